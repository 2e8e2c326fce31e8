#if SwiftOperationMacros
  internal import SwiftDiagnostics
  internal import SwiftSyntax

  extension Misuse {
    static func notAFunction(_ attribute: AttributeSyntax, on declaration: some DeclSyntaxProtocol) -> Misuse {
      Misuse(
        "notAFunction",
        at: attribute,
        "'\(attribute.shortName)' makes an operation of a function; it cannot be applied to anything else",
        fixIts: [.removing(attribute, from: declaration)]
      )
    }

    static func second(_ attribute: AttributeSyntax, after kind: RequestKind, on function: FunctionDeclSyntax) -> Misuse
    {
      Misuse(
        "second",
        at: attribute,
        "'\(function.name.text)' already is an operation by '@\(kind.name)', and there is one '$\(function.name.text)' only",
        fixIts: [.removing(attribute, from: function)]
      )
    }

    static func requirement(_ attribute: AttributeSyntax, on function: FunctionDeclSyntax) -> Misuse {
      Misuse(
        "requirement",
        at: attribute,
        "'\(attribute.shortName)' calls the function that it stands on, so that needs a body",
        fixIts: [.removing(attribute, from: function)]
      )
    }

    static func localFunction(_ attribute: AttributeSyntax, on function: FunctionDeclSyntax) -> Misuse {
      Misuse(
        "localFunction",
        at: attribute,
        "'\(attribute.shortName)' cannot be applied to a local function; make it a member of a type or a global function",
        fixIts: [.removing(attribute, from: function)]
      )
    }

    static func operatorFunction(_ attribute: AttributeSyntax, on function: FunctionDeclSyntax) -> Misuse {
      Misuse(
        "operatorFunction",
        at: attribute,
        "'\(attribute.shortName)' needs a function with a name; an operator has none that '$' could stand before",
        fixIts: [.removing(attribute, from: function)]
      )
    }

    static func changesSelf(_ modifier: DeclModifierSyntax, of function: FunctionDeclSyntax) -> Misuse {
      Misuse(
        "changesSelf",
        at: modifier,
        "an operation keeps a value and runs any number of times, so its function cannot be '\(modifier.trimmed)'",
        fixIts: [.removing(modifier, from: function)]
      )
    }

    static func overrides(
      _ modifier: DeclModifierSyntax,
      _ attribute: AttributeSyntax,
      on function: FunctionDeclSyntax
    ) -> Misuse {
      Misuse(
        "overrides",
        at: modifier,
        """
        '$\(function.name.text)' of the superclass calls the function that overrides its own; \
        '\(attribute.shortName)' belongs there alone
        """,
        fixIts: [.removing(attribute, from: function)]
      )
    }

    static func parameterPack(_ parameter: GenericParameterSyntax) -> Misuse {
      Misuse(
        "parameterPack",
        at: parameter,
        "an operation cannot be made of a function with a parameter pack",
        fixIts: [
          .replacing(
            "replace the pack with one type",
            parameter,
            with: parameter.with(\.specifier, nil).with(\.leadingTrivia, parameter.leadingTrivia)
          )
        ]
      )
    }

    static func opaqueResult(_ type: SomeOrAnyTypeSyntax) -> Misuse {
      Misuse(
        "opaqueResult",
        at: type,
        "the type of an operation's value has to be spelled out; '\(type.trimmed)' hides it",
        fixIts: [
          .replacing(
            "replace 'some' with 'any'",
            type.someOrAnySpecifier,
            with: type.someOrAnySpecifier.with(\.tokenKind, .keyword(.any))
          )
        ]
      )
    }

    static func rethrowing(_ clause: ThrowsClauseSyntax) -> Misuse {
      Misuse(
        "rethrowing",
        at: clause.throwsSpecifier,
        "whether an operation can fail does not depend on its arguments; write 'throws' in place of 'rethrows'",
        fixIts: [
          .replacing(
            "replace 'rethrows' with 'throws'",
            clause.throwsSpecifier,
            with: clause.throwsSpecifier.with(\.tokenKind, .keyword(.throws))
          )
        ]
      )
    }
  }

  extension AttributeSyntax {
    /// The attribute without its arguments.
    fileprivate var shortName: String { "@\(self.attributeName.trimmedDescription)" }
  }
#endif
