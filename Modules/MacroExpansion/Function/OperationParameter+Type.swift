#if SwiftOperationMacros
  internal import SwiftSyntax

  extension TypeSyntax {
    /// The type without attributes and specifiers.
    var unattributed: TypeSyntax {
      self.as(AttributedTypeSyntax.self)?.baseType.trimmed ?? self.trimmed
    }

    /// The type without `@escaping` and specifiers such as `isolated`, `borrowing` and `sending`, which describe how it
    /// is passed.
    var withoutPassingSpecifiers: TypeSyntax {
      guard var type = self.as(AttributedTypeSyntax.self) else { return self.trimmed }
      type.attributes = type.attributes.filter { $0.trimmedDescription != "@escaping" }
      return type.keeping { !$0.is(SimpleTypeSpecifierSyntax.self) }.trimmed
    }

    /// The type without one specifier.
    func without(_ specifier: SimpleTypeSpecifierSyntax) -> TypeSyntax {
      guard let type = self.as(AttributedTypeSyntax.self) else { return self }
      return type.keeping { $0.id != specifier.id }.surrounded(as: self)
    }

    /// The type without one attribute.
    func without(_ attribute: AttributeSyntax) -> TypeSyntax {
      guard let type = self.as(AttributedTypeSyntax.self) else { return self }
      let attributes = type.attributes.filter { $0.id != attribute.id }
      return type.with(\.attributes, attributes).baseTypeIfUnattributed.surrounded(as: self)
    }

    /// Whether the type is written as a function type, possibly in parentheses.
    var isFunction: Bool { self.function != nil }

    /// The type of a parameter whose argument an operation stores.
    var storedParameterType: String {
      if let function = self.function { return function.spelled(with: ["@escaping", "@Sendable"]) }
      // A type alias of a function type looks like any other name, but only function types can be `@escaping`.
      let attributes = self.as(AttributedTypeSyntax.self)?.attributes ?? []
      let isEscaping = attributes.contains { $0.trimmedDescription == "@escaping" }
      return isEscaping ? "@escaping \(self.storedType)" : self.storedType
    }

    /// The type of a value that an operation stores, with `@Sendable` functions.
    ///
    /// This applies to functions, and to functions in optionals and tuples, which convert to the types that the user
    /// wrote. The arguments of generic types stay as they are. So do the elements of arrays and dictionaries: these
    /// convert by a cast of each element, which traps.
    var storedType: String {
      if let function = self.function { return function.spelled(with: ["@Sendable"]) }
      let type = self.withoutPassingSpecifiers
      // Only parameters can have the suffix `!`; a generic argument cannot.
      if let type = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
        return "\(type.wrappedType.storedTypeBeforeSuffix)?"
      }
      return type.containsStoredFunction ? type.storedContainerType : type.trimmedDescription
    }
  }

  extension TypeSyntax {
    /// A function type with its attributes and specifiers.
    private struct Function {
      /// Specifiers that come before the attributes, such as `nonisolated(nonsending)`.
      var specifiers: [String] = []
      var attributes: [String] = []
      var type: FunctionTypeSyntax

      func spelled(with attributes: [String]) -> String {
        let others = self.attributes.filter { !["@escaping", "@Sendable"].contains($0) }
        return (self.specifiers + attributes + others + [self.type.trimmedDescription]).joined(separator: " ")
      }
    }

    private var function: Function? {
      if let type = self.as(FunctionTypeSyntax.self) { return Function(type: type) }
      if let type = self.as(AttributedTypeSyntax.self) {
        guard var function = type.baseType.function else { return nil }
        let specifiers = (Array(type.specifiers) + Array(type.lateSpecifiers)).filter { element in
          !element.is(SimpleTypeSpecifierSyntax.self)
        }
        function.specifiers.insert(contentsOf: specifiers.map(\.trimmedDescription), at: 0)
        function.attributes.insert(contentsOf: type.attributes.map(\.trimmedDescription), at: 0)
        return function
      }
      return self.parenthesized?.function
    }

    /// The type in parentheses, if they are not a tuple's.
    private var parenthesized: TypeSyntax? {
      guard let elements = self.as(TupleTypeSyntax.self)?.elements, elements.count == 1 else { return nil }
      return elements.first?.firstName == nil ? elements.first?.type : nil
    }

    private var containsStoredFunction: Bool {
      if self.isFunction { return true }
      if let type = self.as(OptionalTypeSyntax.self) { return type.wrappedType.containsStoredFunction }
      return self.as(TupleTypeSyntax.self)?.elements.contains { $0.type.containsStoredFunction } ?? false
    }

    /// A type that contains functions, with these made `@Sendable`.
    private var storedContainerType: String {
      if let type = self.as(OptionalTypeSyntax.self) { return "\(type.wrappedType.storedTypeBeforeSuffix)?" }
      guard let type = self.as(TupleTypeSyntax.self) else { return self.trimmedDescription }
      let elements = type.elements.map { element in
        let names = [element.firstName, element.secondName].compactMap { $0?.text }.joined(separator: " ")
        return "\(names.isEmpty ? "" : "\(names): ")\(element.type.storedType)"
      }
      return "(\(elements.joined(separator: ", ")))"
    }

    private var storedTypeBeforeSuffix: String { self.isFunction ? "(\(self.storedType))" : self.storedType }
  }

  extension AttributedTypeSyntax {
    /// The type with only some of its specifiers.
    fileprivate func keeping(_ isKept: (TypeSpecifierListSyntax.Element) -> Bool) -> TypeSyntax {
      self.with(\.specifiers, self.specifiers.filter(isKept))
        .with(\.lateSpecifiers, self.lateSpecifiers.filter(isKept))
        .baseTypeIfUnattributed
    }

    fileprivate var baseTypeIfUnattributed: TypeSyntax {
      self.specifiers.isEmpty && self.attributes.isEmpty && self.lateSpecifiers.isEmpty
        ? self.baseType : TypeSyntax(self)
    }
  }
#endif
