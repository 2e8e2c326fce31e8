#if SwiftOperationMacros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  extension OperationFunction {
    /// The declaration of `$name`, and a second one if default values may belong to an actor: see ``isolatedDefaults``.
    func rendered() -> [DeclSyntax] {
      let operation = self.syntax.body(of: self.name, in: self.operation(from: self.isolatedPage?.name))
      guard self.isFunction || self.isolatedPage != nil else { return [self.property("nonisolated", operation)] }
      let isolated = self.isolatedDefaults
      var parameters = self.ownParameters.map { $0.declaration(hasDefault: !isolated.contains($0.name)) }
      if let page = self.isolatedPage { parameters.append("\(page.name): \(page.type)") }
      let function = self.function("nonisolated", parameters, operation)
      guard let actor = self.globalActor, !isolated.isEmpty || self.isolatedPage != nil else { return [function] }
      // A property cannot call a function of its name.
      if !self.isFunction {
        return [function, self.property(actor, self.syntax.body(of: self.name, in: self.operation(from: nil)))]
      }
      let defaults = "_: OperationMacros.FunctionDefaults = OperationMacros.FunctionDefaults()"
      return [
        function, self.function(actor, self.ownParameters.map { $0.declaration() } + [defaults], self.callOfPeer),
      ]
    }

    /// The names of the parameters whose default values may belong to the actor of the function.
    ///
    /// Then `$name` belongs to no actor where it is called with these arguments, and to that actor where a default value is used.
    private var isolatedDefaults: Set<String> {
      if self.globalActor == nil { return [] }
      return Set(
        self.ownParameters.filter { $0.syntax.defaultValue.map { !$0.value.isOfLiterals } ?? false }.map(\.name)
      )
    }

    /// The parameter for the first page, if that is a default value that may belong to the actor of the function; nil otherwise.
    ///
    /// The `$name` that belongs to no actor has it, without a default value.
    private var isolatedPage: (name: String, type: String, value: String)? {
      guard self.globalActor != nil, let value = self.pages?.initialDefault, !value.isOfLiterals,
        let page = self.parameters.first(where: { $0.role == .page })
      else { return nil }
      return ("initialPageId", page.type, value.description)
    }

    private func property(_ isolation: String, _ body: String) -> DeclSyntax {
      """
      \(raw: self.head(isolation)) var \(raw: self.peerName): \(raw: self.operationType) {
        \(raw: body)
      }
      """
    }

    private func function(_ isolation: String, _ parameters: [String], _ body: String) -> DeclSyntax {
      let generics = self.syntax.genericParameterClause?.trimmedDescription ?? ""
      let list = parameters.joined(separator: ", ")
      let requirements = self.syntax.genericWhereClause.map { " \($0.trimmed)" } ?? ""
      let signature = "\(self.peerName)\(generics)(\(list)) -> \(self.operationType)\(requirements)"
      return """
        \(raw: self.head(isolation)) func \(raw: signature) {
          \(raw: body)
        }
        """
    }

    /// The call of the `$name` that belongs to no actor, with all arguments.
    private var callOfPeer: String {
      var arguments = self.ownParameters.map { $0.argument($0.reference) }
      if let page = self.isolatedPage { arguments.append("\(page.name): \(page.value)") }
      let receiver =
        switch self.place {
        case .global: ""
        case .type: "Self."
        case .instance: "self."
        }
      return self.syntax.body(of: self.name, in: "\(receiver)\(self.peerName)(\(arguments.joined(separator: ", ")))")
    }

    /// What is in front of `var` or `func`.
    private func head(_ isolation: String) -> String {
      let attributes = self.attributes + (isolation == "nonisolated" ? [] : [isolation])
      let modifiers = self.access + (isolation == "nonisolated" ? [isolation] : []) + self.placeModifiers
      return (attributes + modifiers).joined(separator: " ")
    }

    private var isFunction: Bool { !self.ownParameters.isEmpty || self.syntax.genericParameterClause != nil }

    private var peerName: String { Spelling.declaration("$\(self.name)") }

    /// The attributes of the function that also apply to the operation.
    private var attributes: [String] {
      self.syntax.attributes.compactMap { element in
        guard case .attribute(let attribute) = element else { return nil }
        let isCopied = ["available", "_spi"].contains(attribute.attributeName.trimmedDescription)
        return isCopied ? attribute.trimmedDescription : nil
      }
    }

    private var access: [String] {
      self.syntax.modifiers.compactMap { modifier in
        switch modifier.name.tokenKind {
        case .keyword(.public), .keyword(.package), .keyword(.internal), .keyword(.fileprivate), .keyword(.private):
          modifier.trimmedDescription
        case .keyword(.open): "public"
        default: nil
        }
      }
    }

    private var placeModifiers: [String] {
      switch self.place {
      case .global: []
      case .type: ["static"]
      case .instance: self.isInClass ? ["final"] : []
      }
    }

    /// The type of the operation. It is not opaque, because properties could not be declared with an opaque type.
    private var operationType: String {
      let result = [self.valueType, self.failureType]
      let arguments =
        switch self.kind {
        case .query: [self.origin] + result
        case .mutation: [self.origin, self.argumentsType] + result
        case .paginated: [self.origin, self.pageIdType ?? "Never"] + result
        case .operation: result
        }
      return "OperationMacros.\(self.typeName)<\(arguments.joined(separator: ", "))>"
    }

    private var typeName: String {
      switch self.kind {
      case .query: "FunctionQuery"
      case .mutation: "FunctionMutation"
      case .paginated: "FunctionPaginatedRequest"
      case .operation: "FunctionOperation"
      }
    }

    /// The expression that makes the operation.
    ///
    /// - Parameter page: The first page if it is a parameter of `$name`; nil otherwise.
    /// - Returns: The expression.
    private func operation(from page: String?) -> String {
      let names = self.bodyNames
      var parameters = ["\(names.isolation): isolated (any Actor)?"]
      if self.kind == .mutation { parameters.append("\(names.arguments): \(self.argumentsParameterType)") }
      if let pageIdType = self.pageIdType {
        parameters.append("\(names.page): \(pageIdType)")
        parameters.append("\(names.paging): OperationMacros.FunctionPaging<\(pageIdType), \(self.valueType)>")
      }
      parameters.append("\(names.context): OperationCore.OperationContext")
      parameters.append(
        "\(names.continuation): OperationCore.OperationContinuation<\(self.valueType), \(self.failureType)>"
      )
      return """
        OperationMacros.\(self.typeName)\(self.operationArguments(from: page)) {
            (
              \(parameters.joined(separator: ",\n      "))
            ) async throws(\(self.failureType)) -> \(self.valueType) in
            \(self.call(names))
          }
        """
    }

    /// The arguments for the path, the owner of the function and the pages.
    private func operationArguments(from page: String?) -> String {
      var arguments: [String] = []
      if self.kind.hasPath { arguments.append("path: \(self.pathExpression)") }
      switch self.place {
      case .global: break
      case .type, .instance: arguments.append("of: Self.self")
      }
      if let pages = self.pages { arguments += self.arguments(for: pages, from: page) }
      return arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))"
    }

    private func call(_ names: BodyNames) -> String {
      let function =
        switch self.place {
        case .global: Spelling.reference(to: self.name)
        case .type: "Self.\(self.syntax.name.trimmed.text)"
        case .instance: "self.\(self.syntax.name.trimmed.text)"
        }
      let arguments = self.parameters.map { parameter in
        switch parameter.role {
        case .own: parameter.argument(parameter.reference)
        case .arguments: parameter.argument(names.arguments)
        case .page: parameter.argument(names.page)
        case .paging: parameter.argument(names.paging)
        case .context: parameter.argument(names.context)
        case .continuation: parameter.argument(names.continuation)
        case .isolation: parameter.argument(names.isolation)
        }
      }
      let call = "\(function)(\(arguments.joined(separator: ", ")))"
      let attempt = self.isThrowing ? "try " : ""
      // A function that is not `async` may still be isolated to an actor, which the macro cannot see.
      return self.isAsync
        ? "\(attempt)await \(call)" : "\(attempt)await OperationMacros.FunctionCall.result(of: \(call))"
    }
  }

  extension OperationFunction {
    /// The type that identifies the function.
    private var origin: String { "OperationMacros.FunctionOrigin<\(self.fingerprint.high), \(self.fingerprint.low)>" }

    /// A type that identifies the function together with its generic arguments and the type around it.
    private var identity: String {
      let generics = self.syntax.genericParameterClause?.parameters.map(\.name.text) ?? []
      let types = (self.place == .global ? [] : ["Self"]) + generics
      return types.isEmpty ? self.origin : "(\(([self.origin] + types).joined(separator: ", ")))"
    }

    private var pathExpression: String {
      let own = self.ownParameters
      switch self.path {
      case .inferred(let inference):
        let name = "\(self.name)(\(self.syntax.labels))"
        let elements =
          [StringLiteralExprSyntax(content: name).description, "of: \(self.identity).self"] + self.elements(inference)
        return "OperationMacros.FunctionPath.inferred(\(elements.joined(separator: ", ")))"
      case .prefixed(let path):
        let elements = ["after: \(path.trimmed)"] + self.elements(.either)
        return "OperationMacros.FunctionPath.inferred(\(elements.joined(separator: ", ")))"
      case .custom(let function):
        var arguments = own.map(\.reference)
        if self.customPathTakesInstance { arguments.insert("self", at: 0) }
        return "(\(function.trimmed))(\(arguments.joined(separator: ", ")))"
      }
    }

    private func elements(_ inference: PathRule.Inference) -> [String] {
      let path = "OperationMacros.FunctionPath"
      var inference = inference
      var parameters = self.ownParameters
      if inference == .identifiable, let id = self.identifier {
        inference = .identifier
        parameters = [id]
      }
      let arguments = parameters.map { "\(path).\(inference.rawValue)(\($0.reference))" }
      return (self.place == .instance ? ["\(path).instance(self)"] : []) + arguments
    }

    /// The parameter with the name or the label `id`; the name is tried first.
    private var identifier: OperationParameter? {
      self.ownParameters.first { $0.name == "id" } ?? self.ownParameters.first { $0.syntax.names.contains("id") }
    }
  }

  extension FunctionDeclSyntax {
    /// The labels of the parameters, as in the full name of the function.
    fileprivate var labels: String {
      self.signature.parameterClause.parameters.map { "\($0.firstName.trimmed.text):" }.joined()
    }
  }
#endif
