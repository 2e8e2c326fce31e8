#if SwiftOperationMacros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  extension TokenSyntax {
    /// The name without backquotes; nil for `_`. A keyword used as a name counts as a name.
    var bareName: String? {
      guard self.tokenKind != .wildcard else { return nil }
      let isQuoted = self.text.count > 2 && self.text.first == "`" && self.text.last == "`"
      return isQuoted ? String(self.text.dropFirst().dropLast()) : self.text
    }
  }

  /// How names are written in the generated code.
  enum Spelling {
    /// A name as written in an expression: with backquotes if Swift would otherwise parse it as something else.
    static func reference(to name: String) -> String {
      let expression = ExprSyntax("\(raw: name)")
      guard !expression.hasError, case .identifier? = expression.as(DeclReferenceExprSyntax.self)?.baseName.tokenKind
      else { return "`\(name)`" }
      return name
    }

    /// A name as written in an argument label. Swift warns about backquotes around keywords there, except for `inout`.
    static func label(_ name: String) -> String {
      name != "inout" && Self.isPlain(name) ? name : "`\(name)`"
    }

    /// A name that begins with `$`, as written in a declaration: with backquotes if the rest is not a plain name.
    static func declaration(_ name: String) -> String {
      Self.isPlain(name) ? name : "`\(name)`"
    }

    private static func isPlain(_ name: String) -> Bool {
      name.first?.isNumber == false && name.allSatisfy { "_$".contains($0) || $0.isLetter || $0.isNumber }
    }
  }
#endif
