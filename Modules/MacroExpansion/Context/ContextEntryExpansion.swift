#if SwiftOperationMacros
  package import SwiftSyntax
  internal import SwiftSyntaxBuilder
  package import SwiftSyntaxMacros

  /// The expansion of the macro that adds a getter and a setter to a property of `OperationContext`, and a key type next to it.
  package protocol ContextEntryExpansion: AccessorMacro, PeerMacro {}

  extension ContextEntryExpansion {
    package static func expansion(
      of node: AttributeSyntax,
      providingAccessorsOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
      guard let entry = try? ContextEntry(declaration, attribute: node, in: context.lexicalContext) else {
        // The peer expansion reports the misuse. This accessor prevents follow-up errors of the compiler.
        return [#"get { fatalError("This entry is misused.") }"#]
      }
      return [
        "get { self[\(entry.key).self] }",
        "set { self[\(entry.key).self] = newValue }",
      ]
    }

    package static func expansion(
      of node: AttributeSyntax,
      providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      context.reporting { () throws(Misuse) in
        let entry = try ContextEntry(declaration, attribute: node, in: context.lexicalContext)
        return [
          """
          private nonisolated enum \(entry.key): OperationCore.OperationContext.Key {
            static let defaultValue\(raw: entry.type) = \(entry.value)
          }
          """
        ]
      }
    }
  }
#endif
