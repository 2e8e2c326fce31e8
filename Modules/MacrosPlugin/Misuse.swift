#if SwiftOperationMacros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxMacros

  /// Something that a macro cannot do, said where it is written, with what to write instead.
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
    /// A remedy that puts `new` in the place of `old`.
    static func replacing(_ message: String, _ old: some SyntaxProtocol, with new: some SyntaxProtocol) -> FixIt {
      FixIt(
        message: Misuse.Message(id: "remedy", text: message, severity: .error),
        changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))]
      )
    }

    /// A remedy that takes an attribute away.
    static func removing(_ attribute: AttributeSyntax, from declaration: some DeclSyntaxProtocol) -> FixIt {
      var bare = Syntax(declaration)
      if let attributed = declaration.asProtocol((any WithAttributesSyntax).self) {
        // The compiler hands the attribute over apart from the declaration, so it is known by its text only.
        let attributes = attributed.attributes.filter { $0.trimmedDescription != attribute.trimmedDescription }
        bare = Syntax(fromProtocol: attributed.with(\.attributes, attributes))
      }
      return .replacing(
        "remove '\(attribute.trimmed)'",
        declaration,
        with: bare.with(\.leadingTrivia, declaration.leadingTrivia)
      )
    }

    /// A remedy that takes a modifier away.
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
    /// What `body` makes, or nothing, and a report, where it cannot.
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
