#if SwiftOperationMacros
  internal import SwiftSyntax

  /// What a function becomes.
  enum RequestKind: CaseIterable {
    case query
    case mutation
    case operation

    /// The name of the macro, which is the name of the protocol.
    var name: String {
      switch self {
      case .query: "QueryRequest"
      case .mutation: "MutationRequest"
      case .operation: "OperationRequest"
      }
    }

    /// Whether a store finds the operation by a path.
    var hasPath: Bool { self != .operation }

    /// The kinds that a function is marked with, in their order.
    static func kinds(of function: FunctionDeclSyntax) -> [RequestKind] {
      function.attributes.compactMap { element in
        guard case .attribute(let attribute) = element else { return nil }
        let name = attribute.attributeName.trimmedDescription.split(separator: ".").last.map(String.init)
        return Self.allCases.first { $0.name == name }
      }
    }
  }
#endif
