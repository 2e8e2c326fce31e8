/// Reads the tree of a file from its JSON value, and reports mistakes.
struct FileReader {
  /// The contents of one file.
  struct Content {
    var tree = PathTree()
    /// The place where the file sets an access level.
    var access: Place?
  }

  var log = DiagnosticLog()
  var content = Content()

  /// Reads the root of a file.
  static func read(_ root: JSONNode, into log: inout DiagnosticLog) -> Content {
    var reader = FileReader()
    reader.readRoot(root)
    log.append(contentsOf: reader.log.diagnostics)
    return reader.content
  }

  private mutating func readRoot(_ root: JSONNode) {
    guard let object = self.object(root, "the file") else { return }
    self.refuseUnknownFields(of: object, ["access", "imports", "links", "paths", "context"], in: "the file")
    if let member = object["access"] { self.readAccess(member.value) }
    if let member = object["imports"] { self.readImports(member.value) }
    if let member = object["links"] { self.readLinks(member.value) }
    if let member = object["paths"] { self.readPaths(member) }
    if let member = object["context"] { self.readContext(member.value) }
    if object["paths"] == nil, object["context"] == nil, !object.isIncomplete {
      self.log.report(
        .emptyTree,
        at: root.place,
        "the file has neither 'paths' nor 'context'",
        remedy: "add a key, such as paths: { me: { state: \"QueryState<User, any Error>\" } }"
      )
    }
  }
}

extension FileReader {
  private mutating func readAccess(_ node: JSONNode) {
    guard let string = self.string(node, "'access'") else { return }
    guard let access = AccessLevel(rawValue: string.text) else {
      self.log.report(
        .invalidAccess,
        at: string.place,
        "'\(string.text.onOneLine)' is no access level for path keys",
        remedy: "write \"internal\", \"package\" or \"public\""
      )
      return
    }
    self.content.tree.access = access
    self.content.access = string.place
  }

  private mutating func readImports(_ node: JSONNode) {
    guard case .array(let elements) = node.value else {
      return self.reportKind(of: node, "'imports'", expected: "an array of module names")
    }
    for element in elements {
      guard let string = self.string(element, "an import") else { continue }
      let words = string.text.split(separator: " ").map(String.init)
      let access = words.count == 2 ? AccessLevel(rawValue: words[0]) : nil
      guard let module = words.last, SwiftName.isIdentifier(module), words.count == (access == nil ? 1 : 2) else {
        self.log.report(
          .invalidImport,
          at: string.place,
          "'\(string.text.onOneLine)' is not a module",
          remedy: "write the name of a module, such as \"Models\" or \"internal Models\""
        )
        continue
      }
      self.content.tree.imports.append(ModuleImport(module: module, access: access))
    }
  }

  private mutating func readLinks(_ node: JSONNode) {
    guard let name = self.string(node, "'links'"), self.isUsableName(name, for: .links) else { return }
    self.content.tree.links = name
  }

  private mutating func readPaths(_ member: JSONObject.Member) {
    guard let object = self.object(member.value, "'paths'") else { return }
    let namespace = self.namespace(named: nil, object, at: member.name.place)
    self.content.tree.root = namespace
  }

  private mutating func readContext(_ node: JSONNode) {
    guard let object = self.object(node, "'context'") else { return }
    for member in object.members {
      let isName = self.isUsableName(member.name, for: .entry)
      guard let entry = self.entry(member), isName else { continue }
      self.content.tree.entries.append(entry)
    }
    if object.members.isEmpty, !object.isIncomplete {
      self.log.report(.emptyTree, at: node.place, "'context' is empty", remedy: "add an entry, or remove it")
    }
  }

  private mutating func entry(_ member: JSONObject.Member) -> ContextEntry? {
    let subject = "the context entry '\(member.name.text.onOneLine)'"
    guard let object = self.object(member.value, subject) else { return nil }
    self.refuseUnknownFields(of: object, ["type", "default", "doc"], in: subject)
    let type = object["type"].flatMap { self.type($0) }
    let initial = object["default"].flatMap { member in
      self.string(member.value, "'default'").flatMap { ExpressionText($0, log: &self.log) }
    }
    let documentation = self.documentation(of: object)
    if object["type"] == nil, !object.isIncomplete {
      self.log.report(
        .missingType,
        at: member.name.place,
        "\(subject) has no 'type'",
        remedy: "add one, such as type: \"any HTTPDataTransport\""
      )
    }
    guard let type else { return nil }
    if object["default"] == nil, !type.isOptional, !object.isIncomplete {
      self.log.report(
        .missingDefault,
        at: member.name.place,
        "\(subject) has no 'default'",
        remedy: "add one, such as default: \"URLSession.shared\", or make the type optional"
      )
      return nil
    }
    guard let initial = initial ?? (type.isOptional ? ExpressionText(text: "nil", place: type.place) : nil) else {
      return nil
    }
    return ContextEntry(name: member.name, documentation: documentation, type: type, initial: initial)
  }
}
