#if SwiftOperationMacros
  internal import SwiftDiagnostics
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  extension Misuse {
    static func entryIsNotAProperty(_ attribute: AttributeSyntax, on declaration: some DeclSyntaxProtocol) -> Misuse {
      Misuse(
        "entryIsNotAProperty",
        at: attribute,
        "'@ContextEntry' makes a property an entry of the context; it cannot be applied to anything else",
        fixIts: [.removing(attribute, from: declaration)]
      )
    }

    static func entryIsMisplaced(_ attribute: AttributeSyntax, on variable: VariableDeclSyntax) -> Misuse {
      Misuse(
        "entryIsMisplaced",
        at: attribute,
        "'@ContextEntry' belongs on a property in an extension of 'OperationContext'",
        fixIts: [.removing(attribute, from: variable)]
      )
    }

    static func entryIsConstant(_ variable: VariableDeclSyntax) -> Misuse {
      Misuse(
        "entryIsConstant",
        at: variable.bindingSpecifier,
        "an entry of the context can be written, so it has to be a 'var'",
        fixIts: [
          .replacing(
            "replace 'let' with 'var'",
            variable.bindingSpecifier,
            with: variable.bindingSpecifier.with(\.tokenKind, .keyword(.var))
          )
        ]
      )
    }

    static func entryHasModifier(_ modifier: DeclModifierSyntax, of variable: VariableDeclSyntax) -> Misuse {
      Misuse(
        "entryHasModifier",
        at: modifier,
        "an entry of the context is a property of each context, so it cannot be '\(modifier.trimmed)'",
        fixIts: [.removing(modifier, from: variable)]
      )
    }

    static func entryIsPattern(
      _ pattern: PatternSyntax,
      _ attribute: AttributeSyntax,
      on variable: VariableDeclSyntax
    ) -> Misuse {
      Misuse(
        "entryIsPattern",
        at: pattern,
        "an entry of the context has one name; declare each entry by itself",
        fixIts: [.removing(attribute, from: variable)]
      )
    }

    static func entryHasAccessors(_ accessors: AccessorBlockSyntax, of binding: PatternBindingSyntax) -> Misuse {
      Misuse(
        "entryHasAccessors",
        at: accessors,
        "'@ContextEntry' writes the getter and the setter; an entry has an initial value instead of accessors",
        fixIts: [.replacing("remove the accessors", binding, with: binding.with(\.accessorBlock, nil))]
      )
    }

    static func entryHasNoValue(_ binding: PatternBindingSyntax) -> Misuse {
      let value = InitializerClauseSyntax(
        equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space),
        value: EditorPlaceholderExprSyntax(placeholder: .identifier("<#value#>"))
      )
      return Misuse(
        "entryHasNoValue",
        at: binding,
        "an entry of the context needs an initial value: the value in a context where the entry was never set",
        fixIts: [
          .replacing(
            "add an initial value",
            binding,
            with: binding.with(\.trailingTrivia, []).with(\.initializer, value).surrounded(as: binding)
          )
        ]
      )
    }
  }
#endif
