extension FileReader {
  /// The declaration that a name is used for.
  enum NameUse {
    case node
    case parameter
    /// A parameter whose value is the member of the operation with the same name.
    case member
    case entry
    /// The type that finds the key of a path.
    case links
  }

  /// Whether the generated code can use the name. Reports the reason if it cannot.
  mutating func isUsableName(_ name: JSONString, for use: NameUse) -> Bool {
    guard SwiftName.isIdentifier(name.text) else {
      let example = name.text.camelCased
      self.log.report(
        .invalidName,
        at: name.place,
        "'\(name.text.onOneLine)' is not a Swift identifier",
        remedy: example.isEmpty ? "give it a name of letters, digits and '_'" : "write '\(example)'"
      )
      return false
    }
    guard let reason = use.reserved[name.text] else { return true }
    self.log.report(
      .reservedName,
      at: name.place,
      "the name '\(name.text)' is taken: \(reason)",
      remedy: "choose another, such as '\(name.text == "Self" ? "own" : name.text.lowercased())\(use.suffix)'"
    )
    return false
  }
}

extension FileReader.NameUse {
  fileprivate var reserved: [String: String] {
    switch self {
    case .node:
      [
        "path": "it is the prefix of a namespace",
        "self": "it is the type itself in Swift",
        "Self": "it is the type itself in Swift",
        "Type": "it is the type's type in Swift",
        "Protocol": "it is the type's type in Swift",
        "init": "it is an initializer in Swift",
      ]
    case .parameter:
      ["self": "it is the value itself in Swift", "Self": "it is the type itself in Swift"]
    case .member:
      // The path generated for the operation would refer to itself.
      Self.parameter.reserved.merging(["path": "it is the path that the operation gets"]) { $1 }
    case .entry:
      [
        "self": "it is the value itself in Swift",
        "Self": "it is the type itself in Swift",
        "Type": "it is the type's type in Swift",
        "init": "it is an initializer in Swift",
      ]
    case .links:
      [
        "PathKeys": "it is the type of the keys",
        "Self": "it is the type itself in Swift",
        "self": "it is the value itself in Swift",
      ]
    }
  }

  fileprivate var suffix: String {
    switch self {
    case .node: "Key"
    case .parameter, .member, .entry: "Value"
    case .links: "Link"
    }
  }
}

extension String {
  /// An identifier for a text with other characters: `userFriends` for `user-friends`.
  fileprivate var camelCased: String {
    let words = self.prefix(100).split { !$0.unicodeScalars.allSatisfy(SwiftName.isBody) }
    let first = words.first.map(String.init) ?? ""
    let text = words.dropFirst().reduce(first) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    return SwiftName.isIdentifier(text) ? text : SwiftName.isIdentifier("_" + text) ? "_" + text : ""
  }
}
