#if SwiftOperationMacros
  internal import SwiftSyntax
  internal import SwiftSyntaxBuilder

  /// The parts of a property with `@ContextEntry` that the macro needs.
  struct ContextEntry {
    /// The name of the key type of the entry.
    var key: TokenSyntax
    /// The type annotation; empty if the type is inferred from the initial value.
    var type: String
    var value: ExprSyntax

    init(
      _ declaration: some DeclSyntaxProtocol,
      attribute: AttributeSyntax,
      in lexicalContext: [Syntax]
    ) throws(Misuse) {
      guard let variable = declaration.as(VariableDeclSyntax.self) else {
        throw .entryIsNotAProperty(attribute, on: declaration)
      }
      guard let surroundings = lexicalContext.first?.as(ExtensionDeclSyntax.self), surroundings.extendsContext else {
        throw .entryIsMisplaced(attribute, on: variable)
      }
      if variable.bindingSpecifier.tokenKind != .keyword(.var) { throw .entryIsConstant(variable) }
      if let modifier = variable.modifiers.first(where: { $0.name.isStoredPropertyModifier }) {
        throw .entryHasModifier(modifier, of: variable)
      }
      // The compiler itself rejects the macro on a declaration of several properties.
      guard let binding = variable.bindings.first else { throw .entryIsNotAProperty(attribute, on: declaration) }
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
        throw .entryIsPattern(binding.pattern, attribute, on: variable)
      }
      if let accessors = binding.accessorBlock { throw .entryHasAccessors(accessors, of: binding) }

      self.key = .identifier(Spelling.declaration("$ContextKey_\(name.bareName ?? name.text)"))
      self.type = binding.typeAnnotation.map { ": \($0.type.trimmed)" } ?? ""
      if let value = binding.initializer?.value.trimmed {
        self.value = value
      } else if let type = binding.typeAnnotation?.type, type.isOptional {
        self.value = "nil"
      } else {
        throw .entryHasNoValue(binding)
      }
    }
  }

  extension ExtensionDeclSyntax {
    fileprivate var extendsContext: Bool {
      self.extendedType.trimmedDescription.split(separator: ".").last == "OperationContext"
    }
  }

  extension TokenSyntax {
    fileprivate var isStoredPropertyModifier: Bool {
      switch self.tokenKind {
      case .keyword(.static), .keyword(.class), .keyword(.lazy), .keyword(.weak), .keyword(.unowned): true
      default: false
      }
    }
  }

  extension TypeSyntax {
    /// Whether the type is written as an optional.
    fileprivate var isOptional: Bool {
      if self.is(OptionalTypeSyntax.self) { return true }
      return self.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
    }
  }
#endif
