#if SwiftOperationMacros
  package import SwiftSyntax
  package import SwiftSyntaxMacros

  /// The expansion of a macro that makes an operation of a function.
  package protocol RequestExpansion: PeerMacro {
    static var kind: RequestKind { get }
  }

  extension RequestExpansion {
    package static func expansion(
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
#endif
