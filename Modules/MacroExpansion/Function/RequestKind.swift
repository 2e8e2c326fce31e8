#if SwiftOperationMacros
  internal import SwiftSyntax

  /// The kind of operation that a macro makes of a function.
  package enum RequestKind: CaseIterable {
    case query
    case mutation
    case paginated
    case operation

    /// The name of the macro, which is also the name of the protocol.
    var name: String {
      switch self {
      case .query: "QueryRequest"
      case .mutation: "MutationRequest"
      case .paginated: "PaginatedRequest"
      case .operation: "OperationRequest"
      }
    }

    /// Whether stores find the operation by a path.
    var hasPath: Bool { self != .operation }

    /// The kinds of the macros attached to a function, in their order.
    static func kinds(of function: FunctionDeclSyntax) -> [RequestKind] {
      function.attributes.compactMap { element in
        guard case .attribute(let attribute) = element else { return nil }
        let name = attribute.attributeName.trimmedDescription.split(separator: ".").last.map(String.init)
        return Self.allCases.first { $0.name == name }
      }
    }
  }
#endif
