#if SwiftOperationMacros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  extension TokenSyntax {
    /// The name without backquotes; nil for `_`. A keyword that is a name counts as one.
    var bareName: String? {
      guard self.tokenKind != .wildcard else { return nil }
      let isQuoted = self.text.count > 2 && self.text.first == "`" && self.text.last == "`"
      return isQuoted ? String(self.text.dropFirst().dropLast()) : self.text
    }
  }

  /// The spellings of names in what the macros write.
  enum Spelling {
    /// A name as an expression refers to it: in backquotes where Swift reads the name alone as something else.
    static func reference(to name: String) -> String {
      let expression = ExprSyntax("\(raw: name)")
      guard !expression.hasError, case .identifier? = expression.as(DeclReferenceExprSyntax.self)?.baseName.tokenKind
      else { return "`\(name)`" }
      return name
    }

    /// A name as the label of an argument. Swift warns of backquotes around a keyword there, other than `inout`.
    static func label(_ name: String) -> String {
      name != "inout" && Self.isPlain(name) ? name : "`\(name)`"
    }

    /// A name that begins with `$`, as a declaration spells it: in backquotes where the rest is not a plain name.
    static func declaration(_ name: String) -> String {
      Self.isPlain(name) ? name : "`\(name)`"
    }

    private static func isPlain(_ name: String) -> Bool {
      name.first?.isNumber == false && name.allSatisfy { "_$".contains($0) || $0.isLetter || $0.isNumber }
    }
  }
#endif
