extension Renderer {
  /// Writes the entries of the context and their private keys.
  mutating func renderEntries(_ entries: [ContextEntry]) {
    guard !entries.isEmpty else { return }
    self.line("nonisolated extension OperationContext {")
    for (index, entry) in entries.enumerated() {
      if index > 0 { self.line() }
      let key = "PathKeysContext.\(Self.keyName(of: entry))"
      let documentation = entry.documentation?.lines ?? ["The context's `\(entry.name.text)`."]
      self.member(
        "\(self.access.rawValue) var \(SwiftName.escaped(entry.name.text)): \(entry.type.text) "
          + "{ get { self[\(key).self] } set { self[\(key).self] = newValue } }",
        documentation: documentation,
        at: entry.name.place
      )
    }
    self.endMapping()
    self.line("}")
    self.line()
    self.line("nonisolated private enum PathKeysContext {")
    for entry in entries {
      self.map(to: entry.initial.place, before: 0)
      self.line(
        "  enum \(Self.keyName(of: entry)): OperationContext.Key "
          + "{ static let defaultValue: \(entry.type.text) = \(entry.initial.text) }"
      )
    }
    self.endMapping()
    self.line("}")
    self.line()
  }

  /// A name that no type of the user is likely to have, because the key would hide that type.
  private static func keyName(of entry: ContextEntry) -> String { "KeyOf_\(entry.name.text)" }
}
