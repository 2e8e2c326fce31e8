extension Merging {
  /// Reports types that the generated code cannot refer to, because a namespace with the same name hides them.
  mutating func checkTypes(in namespace: Namespace, path: [String]) {
    // The code of a namespace is in an extension of it, where only the namespaces directly below it are visible.
    var hidden: [String: Place] = [:]
    for case .namespace(let child) in namespace.children {
      guard let name = child.name else { continue }
      hidden[name.text] = name.place
      if ["OperationPath", "OperationPathKey", "OperationPathPrefix"].contains(name.text) {
        self.log.report(
          .hiddenType,
          at: name.place,
          "the namespace '\(name.text)' hides the type that the generated code uses",
          remedy: "rename the namespace"
        )
      }
      self.checkTypes(in: child, path: path + [name.text])
    }
    guard !hidden.isEmpty else { return }
    for case .key(let key) in namespace.children {
      for type in key.parameters.map(\.type) + [key.state ?? key.operation].compactMap(\.self) {
        guard let name = type.leadingNames.first(where: { hidden[$0] != nil }), let place = hidden[name] else {
          continue
        }
        self.log.report(
          .hiddenType,
          at: type.place,
          "the namespace '\(name)' at \(place.description) hides the type '\(name)' of the key '\(key.name.text)'",
          remedy: "rename the namespace, or write the module before the type"
        )
      }
    }
  }

  /// Reports the types of entries that are hidden inside the context and inside its keys, where the generated code is.
  mutating func checkTypes(of entries: [ContextEntry]) {
    for entry in entries {
      guard let name = entry.type.leadingNames.first(where: { ["Key", "Value"].contains($0) }) else { continue }
      self.log.report(
        .hiddenType,
        at: entry.type.place,
        "the context's own '\(name)' hides the type '\(name)' of the context entry '\(entry.name.text)'",
        remedy: "write the module before the type, or give the type another name by a typealias"
      )
    }
  }

  /// Reports operations that would get two paths.
  mutating func checkOperations(in root: Namespace) {
    var places: [String: Place] = [:]
    for key in root.keys {
      guard let operation = key.operation else { continue }
      let name = operation.text.filter { !$0.isWhitespace && $0 != "`" }
      if let first = places[name] {
        self.log.report(
          .duplicateOperation,
          at: operation.place,
          "'\(name)' has a path already, from the key at \(first.description)",
          remedy: "remove 'operation' from one of the two keys"
        )
      } else {
        places[name] = operation.place
      }
    }
  }
}

extension Namespace {
  /// The keys in the namespace and below, in the order of the text.
  var keys: [Key] {
    self.children.flatMap { child in
      switch child {
      case .namespace(let namespace): namespace.keys
      case .key(let key): [key]
      }
    }
  }
}
