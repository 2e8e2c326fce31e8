#if SwiftOperationMacros
  internal import SwiftSyntax

  /// The argument `path:` of an attribute.
  enum PathRule {
    /// How arguments become path elements; the raw value is the name of a function of `FunctionPath`.
    enum Inference: String {
      case either = "argument"
      case hashable
      case identifiable
      /// For a parameter named `id`, which ``identifiable`` uses instead of all other parameters.
      case identifier
    }

    case inferred(Inference)
    /// An expression of a path, which the arguments are appended to.
    case prefixed(ExprSyntax)
    /// An expression of a function that takes the arguments.
    case custom(ExprSyntax)

    init(_ attribute: AttributeSyntax) throws(Misuse) {
      guard
        case .argumentList(let arguments) = attribute.arguments,
        let argument = arguments.first(where: { $0.label?.text == "path" })?.expression
      else {
        self = .inferred(.either)
        return
      }
      if argument.is(ArrayExprSyntax.self) {
        self = .prefixed(argument.trimmed)
        return
      }
      let called = argument.as(FunctionCallExprSyntax.self)
      let member = (called?.calledExpression ?? argument).as(MemberAccessExprSyntax.self)
      let base = member?.base?.trimmedDescription.split(separator: ".").last
      guard let member, base == nil || base == "OperationPathRule" else { throw .pathIsNotWrittenOut(argument) }
      let value = called?.trailingClosure.map { ExprSyntax($0) } ?? called?.arguments.first?.expression
      switch (member.declName.baseName.text, value) {
      case ("inferred", nil): self = .inferred(.either)
      case ("inferredFromHashable", nil): self = .inferred(.hashable)
      case ("inferredFromIdentifiable", nil): self = .inferred(.identifiable)
      case ("prefixed", let path?): self = .prefixed(path)
      case ("custom", let function?): self = .custom(function)
      default: throw .pathIsNotWrittenOut(argument)
      }
    }
  }

  extension ClosureExprSyntax {
    /// The number of parameters of the closure, according to its signature or its use of `$0` and so on.
    var parameterCount: Int {
      switch self.signature?.parameterClause {
      case .parameterClause(let clause): return clause.parameters.count
      case .simpleInput(let names): return names.count
      case nil:
        let indices = self.statements.tokens(viewMode: .sourceAccurate).compactMap { token in
          if case .dollarIdentifier(let name) = token.tokenKind { Int(name.dropFirst()) } else { nil }
        }
        return indices.max().map { $0 + 1 } ?? 0
      }
    }
  }
#endif
