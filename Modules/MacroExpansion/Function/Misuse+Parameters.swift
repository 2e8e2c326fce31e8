#if SwiftOperationMacros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  extension Misuse {
    static func duplicateParameter(
      _ role: OperationParameter.Role,
      _ parameter: FunctionParameterSyntax,
      in function: FunctionDeclSyntax
    ) -> Misuse {
      let clause = function.signature.parameterClause
      var parameters = clause.parameters.filter { $0.id != parameter.id }
      if let last = parameters.indices.last { parameters[last].trailingComma = nil }
      return Misuse(
        "duplicateParameter",
        at: parameter,
        role.messageIfDuplicate
          ?? "a run passes one '\(parameter.type.unattributed)'; the function already has a parameter for it",
        fixIts: [.replacing("remove the parameter", clause, with: clause.with(\.parameters, parameters))]
      )
    }

    static func optionalRunParameter(_ parameter: FunctionParameterSyntax, wrapped: TypeSyntax) -> Misuse {
      Misuse(
        "optionalRunParameter",
        at: parameter.type,
        "every run passes one, so the parameter need not be optional",
        fixIts: [.replacing("remove '?'", parameter.type, with: wrapped.surrounded(as: parameter.type))]
      )
    }

    static func isolationIsRequired(_ parameter: FunctionParameterSyntax) -> Misuse {
      Misuse(
        "isolationIsRequired",
        at: parameter.type,
        "a run may belong to no actor, so the isolation has to be optional",
        fixIts: [.isolation(of: parameter)]
      )
    }

    static func isolationIsNotIsolated(_ parameter: FunctionParameterSyntax) -> Misuse {
      Misuse(
        "isolationIsNotIsolated",
        at: parameter.type,
        "the function runs on the actor of its run only if the parameter is 'isolated'",
        fixIts: [.isolation(of: parameter)]
      )
    }

    static func specifier(_ specifier: SimpleTypeSpecifierSyntax, of parameter: FunctionParameterSyntax) -> Misuse {
      Misuse(
        "specifier",
        at: specifier,
        """
        an operation stores its arguments and passes them in each run, so a parameter cannot be \
        '\(specifier.trimmed)'
        """,
        fixIts: [
          .replacing("remove '\(specifier.trimmed)'", parameter.type, with: parameter.type.without(specifier))
        ]
      )
    }

    static func variadic(_ ellipsis: TokenSyntax, of parameter: FunctionParameterSyntax) -> Misuse {
      let array = TypeSyntax("[\(parameter.type.trimmed)]")
      let replacement = parameter.with(\.type, array).with(\.ellipsis, nil)
      return Misuse(
        "variadic",
        at: ellipsis,
        "an operation cannot pass on a variadic argument; take an array",
        fixIts: [.replacing("replace '\(parameter.type.trimmed)...' with '\(array)'", parameter, with: replacement)]
      )
    }

    static func autoclosure(_ attribute: AttributeSyntax, of parameter: FunctionParameterSyntax) -> Misuse {
      Misuse(
        "autoclosure",
        at: attribute,
        "an operation stores its arguments, so they cannot be autoclosures; take a closure",
        fixIts: [
          .replacing("remove '@autoclosure'", parameter.type, with: parameter.type.without(attribute))
        ]
      )
    }

    static func continuation(_ parameter: FunctionParameterSyntax, of arguments: [String]) -> Misuse {
      let type = TypeSyntax("OperationContinuation<\(raw: arguments.joined(separator: ", "))>")
      return Misuse(
        "continuation",
        at: parameter.type,
        "the continuation takes what the function returns and throws, so its type is '\(type)'",
        fixIts: [
          .replacing("replace the type with '\(type)'", parameter.type, with: type.surrounded(as: parameter.type))
        ]
      )
    }
  }

  extension OperationParameter.Role {
    /// What is wrong with a second parameter that is recognized by its name; nil for one that its type identifies.
    fileprivate var messageIfDuplicate: String? {
      switch self {
      case .arguments: "a mutation has one parameter 'arguments', which receives all arguments of a call"
      case .page: "a paginated request has one parameter 'page', which receives the identifier of the page to load"
      case .own, .paging, .context, .continuation, .isolation: nil
      }
    }
  }

  extension FixIt {
    fileprivate static func isolation(of parameter: FunctionParameterSyntax) -> FixIt {
      let type = TypeSyntax("isolated (any Actor)?").surrounded(as: parameter.type)
      return .replacing("replace the type with 'isolated (any Actor)?'", parameter.type, with: type)
    }
  }

  extension SyntaxProtocol {
    /// This node with the whitespace of another node.
    func surrounded(as other: some SyntaxProtocol) -> Self {
      self.with(\.leadingTrivia, other.leadingTrivia).with(\.trailingTrivia, other.trailingTrivia)
    }
  }
#endif
