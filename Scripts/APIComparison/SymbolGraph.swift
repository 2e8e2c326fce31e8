/// The parts of a symbol graph that a comparison reads. `swift symbolgraph-extract` writes it, in the format of
/// SymbolKit.
struct SymbolGraph: Decodable {
  struct Fragment: Decodable {
    let kind: String
    let spelling: String
  }

  struct Constraint: Decodable {
    let kind: String
    let lhs: String
    let rhs: String
  }

  struct Symbol: Decodable {
    struct Kind: Decodable {
      let identifier: String
    }

    struct Identifier: Decodable {
      let precise: String
    }

    struct Extension: Decodable {
      let constraints: [Constraint]?
    }

    let kind: Kind
    let identifier: Identifier
    let pathComponents: [String]
    let declarationFragments: [Fragment]?
    let accessLevel: String
    let swiftExtension: Extension?
  }

  struct Relationship: Decodable {
    let kind: String
    let source: String
    let target: String
    let targetFallback: String?
    let swiftConstraints: [Constraint]?
  }

  let symbols: [Symbol]
  let relationships: [Relationship]
}

extension SymbolGraph.Constraint: CustomStringConvertible {
  var description: String { "\(self.lhs) \(self.kind == "sameType" ? "==" : ":") \(self.rhs)" }
}

extension [SymbolGraph.Constraint]? {
  /// The constraints as they are written, without those that follow from the others.
  var texts: Set<String> {
    Set(
      (self ?? []).filter { $0.kind != "conformance" || !["Copyable", "Escapable"].contains($0.rhs) }.map(\.description)
    )
  }

  /// The constraints as a clause, in an order that does not depend on how they were written.
  var clause: String { self.texts.clause }
}

extension Set<String> {
  var clause: String { self.isEmpty ? "" : " where " + self.sorted().joined(separator: ", ") }
}
