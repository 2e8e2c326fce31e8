#if SwiftOperationMacros
  internal import SwiftSyntax

  extension FunctionDeclSyntax {
    /// The attribute of the global actor that the function is written to belong to, or the type around it; nil if there is none.
    ///
    /// A macro sees no types, so an attribute is one of a global actor if its name ends in `Actor`.
    func globalActor(in lexicalContext: [Syntax]) -> String? {
      if self.modifiers.contains(where: { $0.name.tokenKind == .keyword(.nonisolated) }) { return nil }
      let type = lexicalContext.first?.asProtocol((any WithAttributesSyntax).self)
      return self.attributes.globalActor ?? type?.attributes.globalActor
    }
  }

  extension AttributeListSyntax {
    fileprivate var globalActor: String? {
      for case .attribute(let attribute) in self
      where attribute.attributeName.lastName?.hasSuffix("Actor") ?? false {
        return attribute.trimmedDescription
      }
      return nil
    }
  }

  extension ExprSyntax {
    /// Whether the expression consists of literals alone, so that it belongs to no actor.
    var isOfLiterals: Bool {
      switch self.kind {
      case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr, .nilLiteralExpr, .regexLiteralExpr,
        .macroExpansionExpr, .closureExpr:
        return true
      case .stringLiteralExpr:
        return self.as(StringLiteralExprSyntax.self)?.segments.allSatisfy { $0.is(StringSegmentSyntax.self) } ?? false
      case .prefixOperatorExpr:
        return self.as(PrefixOperatorExprSyntax.self)?.expression.isOfLiterals ?? false
      case .arrayExpr:
        return self.as(ArrayExprSyntax.self)?.elements.allSatisfy(\.expression.isOfLiterals) ?? false
      case .dictionaryExpr:
        guard case .elements(let elements)? = self.as(DictionaryExprSyntax.self)?.content else { return true }
        return elements.allSatisfy { $0.key.isOfLiterals && $0.value.isOfLiterals }
      case .tupleExpr:
        return self.as(TupleExprSyntax.self)?.elements.allSatisfy(\.expression.isOfLiterals) ?? false
      default: return false
      }
    }
  }
#endif
