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

    static func secondMacro(
      _ attribute: AttributeSyntax,
      after kind: RequestKind,
      on function: FunctionDeclSyntax
    ) -> Misuse {
      Misuse(
        "secondMacro",
        at: attribute,
        "'\(function.name.text)' already has '@\(kind.name)'; a function becomes one operation",
        fixIts: [.removing(attribute, from: function)]
      )
    }

    static func requirement(_ attribute: AttributeSyntax, on function: FunctionDeclSyntax) -> Misuse {
      Misuse(
        "requirement",
        at: attribute,
        "'\(attribute.shortName)' calls the function that it is attached to, so the function needs a body",
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
        "'\(attribute.shortName)' cannot be applied to an operator: the operation is named '$' and the name of the function",
        fixIts: [.removing(attribute, from: function)]
      )
    }

    static func changesSelf(_ modifier: DeclModifierSyntax, of function: FunctionDeclSyntax) -> Misuse {
      Misuse(
        "changesSelf",
        at: modifier,
        "an operation stores the instance and runs any number of times, so its function cannot be '\(modifier.trimmed)'",
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
        '$\(function.name.text)' of the superclass already calls this override; \
        '\(attribute.shortName)' belongs on the overridden function only
        """,
        fixIts: [.removing(attribute, from: function)]
      )
    }

    static func noasync(
      _ word: TokenSyntax,
      _ attribute: AttributeSyntax,
      on function: FunctionDeclSyntax
    ) -> Misuse {
      Misuse(
        "noasync",
        at: word,
        """
        each run is asynchronous, and may not call '\(function.name.text)'; \
        make the operation of a function that calls it on a thread of its own
        """,
        fixIts: [.removing(attribute, from: function)]
      )
    }

    static func obsoleted(
      _ argument: AvailabilityLabeledArgumentSyntax,
      _ attribute: AttributeSyntax,
      on function: FunctionDeclSyntax
    ) -> Misuse {
      Misuse(
        "obsoleted",
        at: argument,
        """
        no code may call '\(function.name.text)' on a platform where it is obsolete, and so no operation; \
        mark it with 'deprecated' there, or with 'unavailable' on all platforms
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
        "the type of an operation's value has to be written out; '\(type.trimmed)' hides it",
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
