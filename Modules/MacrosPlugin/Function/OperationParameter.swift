#if SwiftOperationMacros
  internal import SwiftSyntax

  /// A parameter of a function that becomes an operation.
  struct OperationParameter {
    /// Who brings the argument.
    enum Role {
      /// Whoever makes the operation: it is a parameter of `$name`.
      case own
      /// A call of a mutation.
      case arguments
      case context
      case continuation
      case isolation
    }

    var role: Role
    var syntax: FunctionParameterSyntax
    /// The name in expressions: that of the parameter, or one in the place of `_` and of a name that hides the function.
    var name: String
    /// The type, as an operation that keeps the argument spells it.
    var type: String

    /// The argument in a call of the function, with its label.
    func argument(_ value: String) -> String {
      switch self.syntax.firstName.tokenKind {
      case .wildcard: value
      default: "\(self.syntax.firstName.trimmed.text): \(value)"
      }
    }

    /// The parameter in the declaration of `$name`.
    var declaration: String {
      let label = self.syntax.firstName.trimmed.text
      let names = label == self.name ? label : "\(label) \(self.name)"
      let attributes = self.syntax.attributes.trimmedDescription
      let value = self.syntax.defaultValue.map { " \($0.trimmed)" } ?? ""
      return "\(attributes.isEmpty ? "" : attributes + " ")\(names): \(self.type)\(value)"
    }
  }

  extension OperationParameter {
    /// The parameters of a function, in their order.
    static func parameters(of function: FunctionDeclSyntax, kind: RequestKind) throws(Misuse) -> [OperationParameter] {
      var parameters: [OperationParameter] = []
      for (index, syntax) in function.signature.parameterClause.parameters.enumerated() {
        let role = try syntax.role(kind: kind)
        if role != .own, parameters.contains(where: { $0.role == role }) {
          throw .secondOfItsRole(role, syntax, in: function)
        }
        try syntax.check()
        let token = syntax.secondName ?? syntax.firstName
        let isUsable = token.tokenKind != .wildcard && token.identifier != function.name.identifier
        parameters.append(
          OperationParameter(
            role: role,
            syntax: syntax,
            name: isUsable ? token.trimmed.text : "argument\(index)",
            type: syntax.storedType
          )
        )
      }
      return parameters
    }
  }

  extension FunctionParameterSyntax {
    /// The names that callers and the function's body use.
    var names: [String] {
      [self.firstName, self.secondName].compactMap { $0?.identifier?.name }
    }

    fileprivate func role(kind: RequestKind) throws(Misuse) -> OperationParameter.Role {
      let type = self.type.unattributed
      switch type.lastName {
      case "OperationContext": return .context
      case "OperationContinuation": return .continuation
      default: break
      }
      if let wrapped = type.as(OptionalTypeSyntax.self)?.wrappedType,
        ["OperationContext", "OperationContinuation"].contains(wrapped.lastName)
      {
        throw .optionalOfTheRun(self, wrapped: wrapped)
      }
      if type.isAnyActor {
        if self.type.isIsolated {
          guard type.is(OptionalTypeSyntax.self) else { throw .isolationIsRequired(self) }
          return .isolation
        }
        if self.names.contains("isolation") { throw .isolationIsNotIsolated(self) }
      }
      return kind == .mutation && self.names.contains("arguments") ? .arguments : .own
    }

    /// The type without what says how it is passed, and escaping and sendable where it is a function.
    fileprivate var storedType: String {
      let type = self.type.unattributed
      guard type.is(FunctionTypeSyntax.self) else { return type.trimmedDescription }
      let attributes = self.type.as(AttributedTypeSyntax.self)?.attributes.map(\.trimmedDescription) ?? []
      let others = attributes.filter { !["@escaping", "@Sendable"].contains($0) }
      return (["@escaping", "@Sendable"] + others + [type.trimmedDescription]).joined(separator: " ")
    }
  }

  extension TypeSyntax {
    /// The type without attributes and specifiers.
    var unattributed: TypeSyntax {
      self.as(AttributedTypeSyntax.self)?.baseType.trimmed ?? self.trimmed
    }

    /// The last part of the name of a nominal type.
    fileprivate var lastName: String? {
      if let type = self.as(IdentifierTypeSyntax.self) { return type.name.identifier?.name }
      return self.as(MemberTypeSyntax.self)?.name.identifier?.name
    }

    var isIsolated: Bool { self.specifier(.isolated) != nil }

    /// Whether the type is `any Actor`, or an optional of it.
    fileprivate var isAnyActor: Bool {
      let spelling = self.trimmedDescription.filter { !$0.isWhitespace && !"()?".contains($0) }
      return ["anyActor", "any_Concurrency.Actor", "anySwift.Actor"].contains(spelling)
    }

    /// The specifier, where it stands before the type.
    func specifier(_ keyword: Keyword) -> SimpleTypeSpecifierSyntax? {
      self.as(AttributedTypeSyntax.self)?.specifiers.lazy
        .compactMap { $0.as(SimpleTypeSpecifierSyntax.self) }
        .first { $0.specifier.tokenKind == .keyword(keyword) }
    }
  }
#endif
