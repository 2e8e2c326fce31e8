#if SwiftOperationMacros
  internal import SwiftSyntax
  internal import SwiftSyntaxMacros

  /// A macro that makes an operation of a function.
  protocol RequestMacro: PeerMacro {
    static var kind: RequestKind { get }
  }

  extension RequestMacro {
    static func expansion(
      of node: AttributeSyntax,
      providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      context.reporting { () throws(Misuse) in
        let function = try OperationFunction(declaration, attribute: node, kind: Self.kind, in: context)
        return function.rendered()
      }
    }
  }

  struct QueryRequestMacro: RequestMacro {
    static let kind = RequestKind.query
  }

  struct MutationRequestMacro: RequestMacro {
    static let kind = RequestKind.mutation
  }

  struct PaginatedRequestMacro: RequestMacro {
    static let kind = RequestKind.paginated
  }

  struct OperationRequestMacro: RequestMacro {
    static let kind = RequestKind.operation
  }
#endif
