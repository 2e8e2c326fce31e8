#if SwiftOperationMacros
  internal import SwiftSyntax

  extension OperationFunction {
    /// The expressions for the parameters of the closure that computes the identifier of the first page.
    func arguments(forInitial closure: ClosureExprSyntax) throws(Misuse) -> [String] {
      try closure.parameters.map { (parameter) throws(Misuse) in
        guard let argument = self.argument(for: parameter) else {
          throw .initialParameter(parameter, closure, of: self.ownParameters)
        }
        return argument
      }
    }

    /// The expressions for the parameters of a closure that computes the identifier of the page next to a page.
    func arguments(forNeighbour closure: ClosureExprSyntax, names: BodyNames) throws(Misuse) -> [String] {
      try closure.parameters.map { (parameter) throws(Misuse) in
        switch parameter.type?.unattributed.lastName {
        case "Page": return names.page
        case "Paging": return names.paging
        case "OperationContext": return names.context
        default: break
        }
        if let argument = self.argument(for: parameter) { return argument }
        // The type may be an alias.
        switch parameter.name {
        case "page": return names.page
        case "paging": return names.paging
        case "context": return names.context
        default: throw .neighbourParameter(parameter, closure, of: self)
        }
      }
    }

    /// The argument of the function that the parameter names, or the instance if the parameter has its type.
    private func argument(for parameter: ClosureParameter) -> String? {
      let named = self.ownParameters.first { $0.name == parameter.name }
      if let own = named ?? self.ownParameters.first(where: { $0.syntax.names.contains(parameter.name ?? "") }) {
        return own.reference
      }
      guard self.place == .instance, let type = parameter.type?.unattributed.lastName else { return nil }
      return type == "Self" || type == self.owner ? "self" : nil
    }
  }

  /// A parameter of a closure.
  struct ClosureParameter {
    /// The name without backquotes; nil for `_`.
    var name: String?
    /// Nil if the closure does not write it.
    var type: TypeSyntax?
    var syntax: Syntax
  }

  extension ClosureExprSyntax {
    /// The parameters of the closure, according to its signature or its use of `$0` and so on.
    var parameters: [ClosureParameter] {
      switch self.signature?.parameterClause {
      case .parameterClause(let clause):
        return clause.parameters.map { parameter in
          let name = (parameter.secondName ?? parameter.firstName).bareName
          return ClosureParameter(name: name, type: parameter.type, syntax: Syntax(parameter))
        }
      case .simpleInput(let names):
        return names.map { ClosureParameter(name: $0.name.bareName, syntax: Syntax($0)) }
      case nil:
        return (0..<self.parameterCount).map { ClosureParameter(name: "$\($0)", syntax: Syntax(self)) }
      }
    }

    /// All names in the closure.
    var identifiers: Set<String> {
      Set(self.tokens(viewMode: .sourceAccurate).compactMap(\.bareName))
    }
  }
#endif
