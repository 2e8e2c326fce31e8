#if SwiftOperationMacros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder
  internal import SwiftSyntaxMacros

  /// Gives a property of `OperationContext` a getter and a setter, and a key beside it.
  struct ContextEntryMacro {}

  extension ContextEntryMacro: AccessorMacro {
    static func expansion(
      of node: AttributeSyntax,
      providingAccessorsOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
      guard let entry = try? ContextEntry(declaration, attribute: node, in: context.lexicalContext) else {
        // The expansion of the peer reports what is wrong. Without an accessor the compiler would add what follows from it.
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
