#if SwiftOperationMacros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxMacros

  /// A wrong use of a macro, reported at its place in the source, with a fix-it.
  struct Misuse: Error {
    var diagnostic: Diagnostic

    init(
      _ id: String,
      at node: some SyntaxProtocol,
      _ message: String,
      severity: DiagnosticSeverity = .error,
      fixIts: [FixIt] = []
    ) {
      let message = Message(id: id, text: message, severity: severity)
      self.diagnostic = Diagnostic(node: node, message: message, fixIts: fixIts)
    }
  }

  extension Misuse {
    struct Message: DiagnosticMessage, FixItMessage {
      var id: String
      var text: String
      var severity: DiagnosticSeverity

      var message: String { self.text }
      var diagnosticID: MessageID { MessageID(domain: "OperationMacros", id: self.id) }
      var fixItID: MessageID { self.diagnosticID }
    }
  }

  extension FixIt {
    /// A fix-it that replaces `old` with `new`.
    static func replacing(_ message: String, _ old: some SyntaxProtocol, with new: some SyntaxProtocol) -> FixIt {
      FixIt(
        message: Misuse.Message(id: "remedy", text: message, severity: .error),
        changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))]
      )
    }

    /// A fix-it that removes an attribute.
    static func removing(_ attribute: AttributeSyntax, from declaration: some DeclSyntaxProtocol) -> FixIt {
      var bare = Syntax(declaration)
      if let attributed = declaration.asProtocol((any WithAttributesSyntax).self) {
        // The compiler passes the attribute separately from the declaration, so it can only be matched by its text.
        let attributes = attributed.attributes.filter { $0.trimmedDescription != attribute.trimmedDescription }
        bare = Syntax(fromProtocol: attributed.with(\.attributes, attributes))
      }
      return .replacing(
        "remove '\(attribute.trimmed)'",
        declaration,
        with: bare.with(\.leadingTrivia, declaration.leadingTrivia)
      )
    }

    /// A fix-it that removes a modifier.
    static func removing<Declaration: WithModifiersSyntax & DeclSyntaxProtocol>(
      _ modifier: DeclModifierSyntax,
      from declaration: Declaration
    ) -> FixIt {
      let modifiers = declaration.modifiers.filter { $0.id != modifier.id }
      let bare = declaration.with(\.modifiers, modifiers).with(\.leadingTrivia, declaration.leadingTrivia)
      return .replacing("remove '\(modifier.trimmed)'", declaration, with: bare)
    }
  }

  extension MacroExpansionContext {
    /// Returns the output of `body`. If `body` throws, reports the misuse and returns nothing.
    func reporting<Output>(_ body: () throws(Misuse) -> [Output]) -> [Output] {
      do {
        return try body()
      } catch {
        self.diagnose(error.diagnostic)
        return []
      }
    }
  }
#endif
