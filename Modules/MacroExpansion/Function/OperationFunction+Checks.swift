#if SwiftOperationMacros
  internal import SwiftSyntax

  extension FunctionDeclSyntax {
    /// Checks that an operation can call the function, and that no other of these macros is attached to it.
    func checkPlace(attribute: AttributeSyntax, kind: RequestKind, in lexicalContext: [Syntax]) throws(Misuse) {
      if let first = RequestKind.kinds(of: self).first, first != kind {
        throw .secondMacro(attribute, after: first, on: self)
      }
      if let surroundings = lexicalContext.first {
        if surroundings.is(ProtocolDeclSyntax.self) { throw .requirement(attribute, on: self) }
        let isLocal = !surroundings.isProtocol((any DeclGroupSyntax).self)
        if isLocal { throw .localFunction(attribute, on: self) }
      }
      if self.body == nil { throw .requirement(attribute, on: self) }
      switch self.name.tokenKind {
      case .binaryOperator, .prefixOperator, .postfixOperator: throw .operatorFunction(attribute, on: self)
      default: break
      }
    }

    /// Checks that a run, which is asynchronous, may call the function.
    func checkAvailability(attribute: AttributeSyntax) throws(Misuse) {
      if let noasync = self.noasync { throw .noasync(noasync, attribute, on: self) }
      if let obsoletion = self.obsoletion { throw .obsoleted(obsoletion, attribute, on: self) }
    }

    func checkModifiers(attribute: AttributeSyntax) throws(Misuse) {
      for modifier in self.modifiers {
        switch modifier.name.tokenKind {
        case .keyword(.mutating), .keyword(.consuming), .keyword(.__consuming): throw .changesSelf(modifier, of: self)
        case .keyword(.override): throw .overrides(modifier, attribute, on: self)
        default: break
        }
      }
    }

    func checkGenericParameters() throws(Misuse) {
      for parameter in self.genericParameterClause?.parameters ?? [] where parameter.specifier != nil {
        throw .parameterPack(parameter)
      }
    }
  }

  extension FunctionParameterSyntax {
    /// Checks that an operation can store the argument and pass it in each run.
    func check() throws(Misuse) {
      for keyword in [Keyword.inout, .sending] {
        if let specifier = self.type.specifier(keyword) { throw .specifier(specifier, of: self) }
      }
      if let ellipsis = self.ellipsis { throw .variadic(ellipsis, of: self) }
      let attributes = self.type.as(AttributedTypeSyntax.self)?.attributes ?? []
      for case .attribute(let attribute) in attributes where attribute.attributeName.trimmedDescription == "autoclosure"
      {
        throw .autoclosure(attribute, of: self)
      }
    }
  }

  extension OperationFunction {
    /// Checks that the types of the continuation match the result and the error of the function.
    ///
    /// Only spellings that are certainly different are rejected here; the compiler, which knows the types, rejects the
    /// others.
    func checkContinuation() throws(Misuse) {
      guard let parameter = self.parameters.first(where: { $0.role == .continuation }) else { return }
      let expected = [self.valueType, self.failureType]
      guard parameter.syntax.type.canHaveArguments(expected) else {
        throw .continuation(parameter.syntax, of: expected)
      }
    }

    /// Checks that a run can pass the page that it loads.
    func checkPages() throws(Misuse) {
      guard let pageIdType = self.pageIdType else { throw .noPage(self.syntax) }
      guard let parameter = self.parameters.first(where: { $0.role == .paging }) else { return }
      let expected = [pageIdType, self.valueType]
      guard parameter.syntax.type.canHaveArguments(expected) else { throw .paging(parameter.syntax, of: expected) }
    }

    /// Checks that the path can be made from the parameters.
    func checkPath(attribute: AttributeSyntax) throws(Misuse) {
      guard self.kind.hasPath else { return }
      guard case .custom(let function) = self.path else {
        let closure = self.ownParameters.first { $0.syntax.type.isFunction }
        if let closure { throw .closureInPath(closure, attribute, of: self.ownParameters) }
        return
      }
      guard let closure = function.as(ClosureExprSyntax.self) else { return }
      let count = closure.parameterCount
      if count != self.ownParameters.count, !self.customPathTakesInstance {
        throw .pathParameterMismatch(closure, of: self.ownParameters)
      }
    }

    /// Whether the user's function for the path takes the instance that the function is a member of.
    var customPathTakesInstance: Bool {
      guard self.place == .instance, case .custom(let function) = self.path else { return false }
      return function.as(ClosureExprSyntax.self)?.parameterCount == self.ownParameters.count + 1
    }
  }

  extension TypeSyntax {
    /// The generic arguments of a nominal type.
    var genericArguments: [String]? {
      let type = self.unattributed
      let clause = type.as(IdentifierTypeSyntax.self)?.genericArgumentClause
      return (clause ?? type.as(MemberTypeSyntax.self)?.genericArgumentClause)?.arguments.map {
        $0.argument.trimmedDescription
      }
    }

    /// Whether the type has as many generic arguments, and none that certainly differs.
    fileprivate func canHaveArguments(_ expected: [String]) -> Bool {
      guard let arguments = self.genericArguments, arguments.count == expected.count else { return false }
      return !zip(arguments, expected).contains { WellKnownType.differ($0, $1) }
    }
  }

  /// Types whose names always have the same meaning, whatever a file imports and declares.
  private enum WellKnownType: String {
    case any = "any Error"
    case bool = "Bool"
    case double = "Double"
    case int = "Int"
    case never = "Never"
    case string = "String"
    case void = "Void"

    /// Whether both spellings name well-known types, and different ones.
    static func differ(_ one: String, _ other: String) -> Bool {
      guard let one = Self(spelling: one), let other = Self(spelling: other) else { return false }
      return one != other
    }

    private init?(spelling: String) {
      switch spelling {
      case "()": self = .void
      case "Error", "any Swift.Error": self = .any
      default: self.init(rawValue: spelling)
      }
    }
  }
#endif
