#if SwiftOperationMacros
  internal import SwiftSyntax

  /// A parameter of a function that a macro is attached to.
  struct OperationParameter {
    /// The source of the argument.
    enum Role {
      /// The creator of the operation: the parameter is also one of `$name`.
      case own
      /// The caller of the mutation.
      case arguments
      /// The run: the identifier of the page that it loads.
      case page
      /// The run: all circumstances in which it loads a page.
      case paging
      case context
      case continuation
      case isolation
    }

    var role: Role
    var syntax: FunctionParameterSyntax
    /// The name without backquotes: the parameter's own, or a substitute for `_`, `self` and a name that would hide the
    /// function.
    var name: String
    /// The type of the argument that the operation stores.
    var type: String
    /// The same type, as written for a parameter.
    var parameterType: String

    /// The name as written in expressions.
    var reference: String { Spelling.reference(to: self.name) }

    /// The argument in a call of the function, with its label.
    func argument(_ value: String) -> String {
      self.syntax.firstName.bareName.map { "\(Spelling.label($0)): \(value)" } ?? value
    }

    /// The parameter in the declaration of `$name`, with its default value or without.
    func declaration(hasDefault: Bool = true) -> String {
      let label = self.syntax.firstName.trimmed.text
      let names = self.syntax.firstName.bareName == self.name ? label : "\(label) \(self.reference)"
      let attributes = self.syntax.attributes.trimmedDescription
      let value = (hasDefault ? self.syntax.defaultValue : nil).map { " \($0.trimmed)" } ?? ""
      return "\(attributes.isEmpty ? "" : attributes + " ")\(names): \(self.parameterType)\(value)"
    }
  }

  extension OperationParameter {
    /// The parameters of a function, in their order.
    static func parameters(of function: FunctionDeclSyntax, kind: RequestKind) throws(Misuse) -> [OperationParameter] {
      var parameters: [OperationParameter] = []
      let taken = Set(function.signature.parameterClause.parameters.flatMap(\.names))
      for (index, syntax) in function.signature.parameterClause.parameters.enumerated() {
        let role = try syntax.role(kind: kind)
        if role != .own, parameters.contains(where: { $0.role == role }) {
          throw .duplicateParameter(role, syntax, in: function)
        }
        try syntax.check()
        var substitute = "argument\(index)"
        while taken.contains(substitute) { substitute = "_\(substitute)" }
        let name = (syntax.secondName ?? syntax.firstName).bareName
        let isUsable = name != function.name.bareName && !["self", "Self"].contains(name)
        parameters.append(
          OperationParameter(
            role: role,
            syntax: syntax,
            name: (isUsable ? name : nil) ?? substitute,
            type: syntax.type.storedType,
            parameterType: syntax.type.storedParameterType
          )
        )
      }
      return parameters
    }
  }

  extension FunctionParameterSyntax {
    /// The names that callers and the body of the function use.
    var names: [String] {
      [self.firstName, self.secondName].compactMap { $0?.bareName }
    }

    fileprivate func role(kind: RequestKind) throws(Misuse) -> OperationParameter.Role {
      let type = self.type.unattributed
      var roles: [String: OperationParameter.Role] = [
        "OperationContext": .context, "OperationContinuation": .continuation,
      ]
      if kind == .paginated { roles["Paging"] = .paging }
      if let role = type.lastName.flatMap({ roles[$0] }) { return role }
      if let wrapped = type.as(OptionalTypeSyntax.self)?.wrappedType, let name = wrapped.lastName, roles[name] != nil {
        throw .optionalRunParameter(self, wrapped: wrapped)
      }
      if type.isAnyActor {
        if self.type.isIsolated {
          guard type.is(OptionalTypeSyntax.self) else { throw .isolationIsRequired(self) }
          return .isolation
        }
        if self.names.contains("isolation") { throw .isolationIsNotIsolated(self) }
      }
      switch kind {
      case .mutation where self.names.contains("arguments"): return .arguments
      case .paginated where self.names.contains { ["page", "pageId", "pageID"].contains($0) }: return .page
      default: return .own
      }
    }
  }

  extension TypeSyntax {
    /// The last part of the name of a nominal type.
    var lastName: String? {
      if let type = self.as(IdentifierTypeSyntax.self) { return type.name.bareName }
      return self.as(MemberTypeSyntax.self)?.name.bareName
    }

    var isIsolated: Bool { self.specifier(.isolated) != nil }

    /// Whether the type is `any Actor`, or an optional of it.
    fileprivate var isAnyActor: Bool {
      let spelling = self.trimmedDescription.filter { !$0.isWhitespace && !"()?".contains($0) }
      return ["anyActor", "any_Concurrency.Actor", "anySwift.Actor"].contains(spelling)
    }

    /// A specifier before the type; nil if the type does not have it.
    func specifier(_ keyword: Keyword) -> SimpleTypeSpecifierSyntax? {
      self.as(AttributedTypeSyntax.self)?.specifiers.lazy
        .compactMap { $0.as(SimpleTypeSpecifierSyntax.self) }
        .first { $0.specifier.tokenKind == .keyword(keyword) }
    }
  }
#endif
