#if SwiftOperationMacros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  extension Misuse {
    static func pathIsNotWrittenOut(_ expression: ExprSyntax) -> Misuse {
      Misuse(
        "pathIsNotWrittenOut",
        at: expression,
        """
        the macro reads the rule of the path in the attribute: write an array literal, '.inferred', \
        '.inferredFromHashable', '.inferredFromIdentifiable', '.prefixed(by:)' or '.custom { … }'
        """,
        fixIts: [.replacing("infer the path", expression, with: ExprSyntax(".inferred").surrounded(as: expression))]
      )
    }

    static func pathParameterMismatch(_ closure: ClosureExprSyntax, of parameters: [OperationParameter]) -> Misuse {
      let names = parameters.map { "'\($0.name)'" }.joined(separator: ", ")
      let signature = ClosureSignatureSyntax(of: parameters)
      return Misuse(
        "pathParameterMismatch",
        at: closure,
        """
        the closure receives \(parameters.isEmpty ? "no arguments" : names), \
        so it needs \(parameters.isEmpty ? "no" : "\(parameters.count)") parameter\(parameters.count == 1 ? "" : "s")
        """,
        fixIts: [.replacing("take the arguments", closure, with: closure.taking(signature))]
      )
    }

    static func closureInPath(
      _ parameter: OperationParameter,
      _ attribute: AttributeSyntax,
      of parameters: [OperationParameter]
    ) -> Misuse {
      let list = parameters.map(\.closureParameter).joined(separator: ", ")
      let rule: ExprSyntax = ".custom { (\(raw: list)) in [<#path#>] }"
      return Misuse(
        "closureInPath",
        at: parameter.syntax,
        "nothing identifies a closure, so the path cannot be inferred; write it yourself",
        fixIts: [.replacing("add a path of your own", attribute, with: attribute.setting("path", to: rule))]
      )
    }
  }

  extension ClosureExprSyntax {
    /// The closure with the parameters of another signature; its own result and effects stay.
    func taking(_ parameters: ClosureSignatureSyntax?) -> ClosureExprSyntax {
      guard let clause = parameters?.parameterClause, var signature = self.signature else {
        return self.with(\.signature, parameters)
      }
      let leading = signature.parameterClause?.leadingTrivia ?? []
      signature.parameterClause = clause
      signature.parameterClause?.leadingTrivia = leading
      return self.with(\.signature, signature)
    }
  }

  extension ClosureSignatureSyntax {
    /// The signature of a closure with the given parameters; nil without parameters.
    init?(of parameters: [OperationParameter]) {
      self.init(parameters.map { ($0.reference, $0.parameterType) })
    }

    /// The signature of a closure with parameters of the given names and types; nil without parameters.
    init?(_ parameters: [(name: String, type: String)]) {
      guard !parameters.isEmpty else { return nil }
      let list = parameters.enumerated().map { index, parameter in
        ClosureParameterSyntax(
          firstName: .identifier(parameter.name),
          colon: .colonToken(trailingTrivia: .space),
          type: TypeSyntax("\(raw: parameter.type)"),
          trailingComma: index < parameters.count - 1 ? .commaToken(trailingTrivia: .space) : nil
        )
      }
      self.init(
        parameterClause: .parameterClause(
          ClosureParameterClauseSyntax(parameters: ClosureParameterListSyntax(list), trailingTrivia: .space)
        ),
        inKeyword: .keyword(.in, trailingTrivia: .space)
      )
    }
  }

  extension OperationParameter {
    /// The parameter as written in the signature of a closure.
    fileprivate var closureParameter: String { "\(self.reference): \(self.parameterType)" }
  }
#endif
