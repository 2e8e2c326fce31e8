#if SwiftOperationMacros
  internal import SwiftSyntax
  internal import SwiftSyntaxMacros

  /// The parts of a function that the macros need to make an operation.
  struct OperationFunction {
    /// Where the function is declared, which determines how it is called.
    enum Place {
      case global
      case type
      /// A member of an instance; the macro cannot always see whether that is an object.
      case instance
    }

    var kind: RequestKind
    /// The name without backquotes.
    var name: String
    var place: Place
    var syntax: FunctionDeclSyntax
    var parameters: [OperationParameter]
    var valueType: String
    /// `Never` for a function that does not throw.
    var failureType: String
    /// Whether the function is a member of a class and can be overridden by default.
    var isInClass: Bool
    var path: PathRule
    /// What the attribute says about pages; nil for other kinds than a paginated request.
    var pages: PageRules?
    /// The last part of the name of the type around the function.
    var owner: String?
    /// The attribute of the global actor of the function, as far as the macro sees it.
    var globalActor: String?
    /// Numbers that identify the function.
    var fingerprint: (high: Int, low: Int)

    init(
      _ declaration: some DeclSyntaxProtocol,
      attribute: AttributeSyntax,
      kind: RequestKind,
      in context: some MacroExpansionContext
    ) throws(Misuse) {
      guard let function = declaration.as(FunctionDeclSyntax.self) else {
        throw .notAFunction(attribute, on: declaration)
      }
      let lexicalContext = context.lexicalContext
      try function.checkPlace(attribute: attribute, kind: kind, in: lexicalContext)
      try function.checkModifiers(attribute: attribute)
      try function.checkAvailability(attribute: attribute)
      try function.checkGenericParameters()

      self.kind = kind
      self.syntax = function
      self.name = function.name.bareName ?? function.name.text
      let isOfType = function.modifiers.contains { [.keyword(.static), .keyword(.class)].contains($0.name.tokenKind) }
      self.place = lexicalContext.isEmpty ? .global : isOfType ? .type : .instance
      self.isInClass = lexicalContext.first?.is(ClassDeclSyntax.self) ?? false
      self.owner = lexicalContext.first?.nameOfType
      self.valueType = try function.operationValueType()
      self.failureType = try function.operationFailureType()
      self.parameters = try OperationParameter.parameters(of: function, kind: kind)
      self.path = try PathRule(attribute)
      self.globalActor = function.globalActor(in: lexicalContext)
      self.fingerprint = context.fingerprint(of: function)

      try self.checkContinuation()
      try self.checkPath(attribute: attribute)
      if kind == .paginated {
        try self.checkPages()
        self.pages = try PageRules(attribute, of: self)
      }
    }
  }

  extension OperationFunction {
    /// The parameters of `$name`.
    var ownParameters: [OperationParameter] { self.parameters.filter { $0.role == .own } }

    /// The type of the arguments of a mutation, as written for a parameter.
    var argumentsParameterType: String {
      self.parameters.first { $0.role == .arguments }?.parameterType ?? "Void"
    }

    /// The type of the arguments of a mutation, as a generic argument, where closures are always escaping.
    var argumentsType: String {
      self.parameters.first { $0.role == .arguments }?.type ?? "Void"
    }

    /// The type of the identifier of a page; nil if no parameter receives a page, as for other kinds of operations.
    var pageIdType: String? {
      if let page = self.parameters.first(where: { $0.role == .page }) { return page.type }
      return self.parameters.first { $0.role == .paging }?.syntax.type.genericArguments?.first
    }

    var isAsync: Bool { self.syntax.signature.effectSpecifiers?.asyncSpecifier != nil }

    var isThrowing: Bool { self.failureType != "Never" }
  }

  extension FunctionDeclSyntax {
    fileprivate func operationValueType() throws(Misuse) -> String {
      guard let type = self.signature.returnClause?.type else { return "Void" }
      if let opaque = type.firstOpaqueType { throw .opaqueResult(opaque) }
      if let type = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) { return "\(type.wrappedType.trimmed)?" }
      return type.withoutPassingSpecifiers.trimmedDescription
    }

    fileprivate func operationFailureType() throws(Misuse) -> String {
      guard let throwsClause = self.signature.effectSpecifiers?.throwsClause else { return "Never" }
      if throwsClause.throwsSpecifier.tokenKind == .keyword(.rethrows) { throw .rethrowing(throwsClause) }
      return throwsClause.type?.trimmedDescription ?? "any Error"
    }
  }

  extension Syntax {
    /// The last part of the name of a declared or extended type.
    fileprivate var nameOfType: String? {
      if let declaration = self.as(ExtensionDeclSyntax.self) { return declaration.extendedType.lastName }
      return self.asProtocol((any NamedDeclSyntax).self)?.name.bareName
    }
  }

  extension TypeSyntax {
    /// The first `some` in the type.
    fileprivate var firstOpaqueType: SomeOrAnyTypeSyntax? {
      var queue = [Syntax(self)]
      while let node = queue.popLast() {
        if let type = node.as(SomeOrAnyTypeSyntax.self), type.someOrAnySpecifier.tokenKind == .keyword(.some) {
          return type
        }
        queue += node.children(viewMode: .sourceAccurate)
      }
      return nil
    }
  }
#endif
