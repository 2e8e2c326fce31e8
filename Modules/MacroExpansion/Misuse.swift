#if SwiftOperationMacros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder
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
      // The compiler passes the attribute separately from the declaration, so it can only be matched by its text.
      let attributes = declaration.asProtocol((any WithAttributesSyntax).self)?.attributes ?? []
      let text = attribute.trimmedDescription
      let attached = attributes.first { $0.trimmedDescription == text }
      let bare = attached.map { declaration.removing($0) } ?? DeclSyntax(declaration)
      return .replacing("remove '\(attribute.trimmed)'", declaration, with: bare)
    }

    /// A fix-it that removes a modifier.
    static func removing(_ modifier: DeclModifierSyntax, from declaration: some DeclSyntaxProtocol) -> FixIt {
      .replacing("remove '\(modifier.trimmed)'", declaration, with: declaration.removing(modifier))
    }
  }

  extension DeclSyntaxProtocol {
    /// The declaration without one of its attributes or modifiers. What follows takes its place on its line.
    func removing(_ part: some SyntaxProtocol) -> DeclSyntax {
      let start = part.position.utf8Offset - self.position.utf8Offset
      let end = start + part.totalLength.utf8Length
      let text = Array(self.description.utf8)
      let before = String(decoding: text[..<start], as: UTF8.self)
      var after = String(decoding: text[end...], as: UTF8.self)
      guard start == 0 || part.beginsLine else { return "\(raw: before + after)" }
      after.trimPrefix(while: \.isWhitespace)
      return "\(raw: before + part.leadingTrivia.description + after)"
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
