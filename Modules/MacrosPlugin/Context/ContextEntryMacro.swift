#if SwiftOperationMacros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder
  internal import SwiftSyntaxMacros

  /// Adds a getter and a setter to a property of `OperationContext`, and a key type next to it.
  struct ContextEntryMacro {}

  extension ContextEntryMacro: AccessorMacro {
    static func expansion(
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
  }

  extension ContextEntryMacro: PeerMacro {
    static func expansion(
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
