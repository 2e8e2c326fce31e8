extension Renderer {
  mutating func renderRoot(_ root: Namespace) {
    self.line("/// The paths of this module's operations, with the types of their states.")
    self.line("nonisolated \(self.access.rawValue) enum PathKeys {")
    self.line("  /// The prefix of all paths.")
    self.line("  \(self.access.rawValue) static var path: OperationPath { [] }")
    self.line("}")
    self.line()
    self.renderChildren(of: root, path: [])
  }

  /// Writes the nodes of a namespace in an extension of it, where the namespaces that contain it hide no types.
  private mutating func renderChildren(of namespace: Namespace, path: [String]) {
    guard !namespace.children.isEmpty else { return }
    self.line("nonisolated extension \(Self.reference(to: path)) {")
    for (index, child) in namespace.children.enumerated() {
      if index > 0 { self.line() }
      switch child {
      case .namespace(let child): self.renderDeclaration(of: child, path: path)
      case .key(let key): self.renderKey(key, path: path + [key.name.text])
      }
    }
    self.endMapping()
    self.line("}")
    self.line()
    for case .namespace(let child) in namespace.children {
      guard let name = child.name else { continue }
      self.renderChildren(of: child, path: path + [name.text])
    }
  }

  private mutating func renderDeclaration(of namespace: Namespace, path: [String]) {
    guard let name = namespace.name else { return }
    let path = path + [name.text]
    self.endMapping()
    self.documentation(namespace.documentation?.lines ?? ["The paths below `\(path.literal)`."], indentation: "  ")
    self.line("  \(self.access.rawValue) enum \(SwiftName.escaped(name.text)) {")
    self.line("    /// The prefix `\(path.literal)`.")
    self.line("    \(self.access.rawValue) static var path: OperationPath { \(path.literal) }")
    self.line("  }")
  }

  private mutating func renderKey(_ key: Key, path: [String]) {
    guard let state = key.state?.text ?? key.operation.map({ "\($0.text).State" }) else { return }
    let name = SwiftName.escaped(key.name.text)
    let access = key.deprecationAttribute + self.access.rawValue
    let literal = key.literal(at: path) { SwiftName.escaped($0.name) }

    let documentation = (key.documentation.map { $0.lines + [""] } ?? []) + ["The path `\(literal)`."]
    guard !key.parameters.isEmpty else {
      return self.member(
        "\(access) static var \(name): OperationPathKey<\(state)> { .init(path: \(literal)) }",
        documentation: documentation,
        at: key.name.place
      )
    }
    let parameters = key.parameters.map { parameter in
      "\(SwiftName.escapedParameter(parameter.name)): \(parameter.type.text)"
        + (parameter.initial.map { " = \($0.text)" } ?? "")
    }
    self.member(
      "\(access) static func \(name)(\(parameters.joined(separator: ", "))) -> OperationPathKey<\(state)> "
        + "{ .init(path: \(literal)) }",
      documentation: documentation,
      at: key.name.place
    )
    self.line()
    self.member(
      "\(access) static var \(name): OperationPathPrefix<\(state)> { .init(path: \(path.literal)) }",
      documentation: ["The prefix `\(path.literal)`, for all values of the parameters."],
      at: key.name.place
    )
  }

  /// Writes the paths of the operations of keys, made from the operations' members.
  mutating func renderOperations(in namespace: Namespace, path: [String]) {
    for child in namespace.children {
      switch child {
      case .namespace(let child): self.renderOperations(in: child, path: path + [child.name?.text ?? ""])
      case .key(let key): self.renderOperation(of: key, path: path + [key.name.text])
      }
    }
  }

  private mutating func renderOperation(of key: Key, path: [String]) {
    guard let operation = key.operation else { return }
    let arguments = key.parameters.map { parameter in
      "\(SwiftName.escapedLabel(parameter.name)): self.\(SwiftName.escaped(parameter.name))"
    }
    let call = arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))"
    // A use of a deprecated key would be reported in the generated code.
    let state = key.state?.text ?? "\(operation.text).State"
    let reference =
      key.isDeprecated
      ? "OperationPathKey<\(state)>(path: \(key.literal(at: path) { "self.\(SwiftName.escaped($0.name))" }))"
      : Self.reference(to: path) + call
    self.map(to: operation.place, before: 0)
    self.line("nonisolated extension \(operation.text) {")
    // The compiler checks that the key and the operation have the same state, where it can.
    self.member(
      "\(self.access.rawValue) var path: OperationPath "
        + "{ \(reference).path(for: Self.self) }",
      documentation: ["The path of `\(Self.reference(to: path))`."],
      at: operation.place
    )
    self.endMapping()
    self.line("}")
    self.line()
  }

  static func reference(to path: [String]) -> String {
    (["PathKeys"] + path.map(SwiftName.escaped)).joined(separator: ".")
  }
}
