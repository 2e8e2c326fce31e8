/// Finds the paths that two targets of a package share.
package enum PathConflicts {
  /// The conflicts, each reported at the later of its two places.
  package static func diagnostics(of targets: [TargetPaths]) -> [Diagnostic] {
    var log = DiagnosticLog()
    // Paths with different lengths or different first names cannot conflict.
    var groups: [String: [TargetPaths.Entry]] = [:]
    for entry in targets.flatMap(\.entries) {
      let group = "\(entry.length) \(entry.names[0])"
      let others = groups[group, default: []]
      if let first = others.first(where: { $0.target != entry.target && $0.mayConflict(with: entry) }) {
        let verb = first.isSame(as: entry) ? "is" : "may be"
        log.report(
          .pathOfTwoTargets,
          at: entry.key.name.place,
          "the path \(entry.literal) of '\(entry.target)' \(verb) a path of '\(first.target)' too, "
            + "\(first.literal) at \(first.key.name.place.description)",
          remedy: "rename one of the two keys, or move them to a target that both use"
        )
      }
      groups[group, default: []].append(entry)
    }
    return log.sorted(by: targets.flatMap(\.files))
  }
}

extension TargetPaths.Entry {
  fileprivate var length: Int { self.names.count + self.key.parameters.count }

  /// The path with its parameters: `["users", id: Int]`.
  fileprivate var literal: String {
    let parameters = self.key.parameters.map { "\($0.name): \($0.type.text)" }
    return "[" + (self.names.map { "\"\($0)\"" } + parameters).joined(separator: ", ") + "]"
  }

  fileprivate func isSame(as other: Self) -> Bool {
    self.names == other.names
      && zip(self.key.parameters, other.key.parameters).allSatisfy { $0.type.text == $1.type.text }
  }

  /// Whether both keys may give the same path for some arguments: elements are equal if their types and values are.
  fileprivate func mayConflict(with other: Self) -> Bool {
    self.length == other.length
      && (0..<self.length).allSatisfy { position in
        switch (self.element(at: position), other.element(at: position)) {
        case (.name(let one), .name(let two)): one == two
        case (.name, .value(let type)), (.value(let type), .name): type == nil || type == "String"
        case (.value(let one), .value(let two)): one == nil || two == nil || one == two
        }
      }
  }

  private enum Element {
    case name(String)
    /// A parameter; nil if only the compiler knows its type.
    case value(String?)
  }

  private func element(at position: Int) -> Element {
    guard position >= self.names.count else { return .name(self.names[position]) }
    let type = self.key.parameters[position - self.names.count].type.text
    return .value(Self.knownTypes.contains(type) ? type : nil)
  }

  private static let knownTypes: Set<String> = [
    "Bool", "Character", "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "String", "Substring",
    "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "UInt128",
  ]
}
