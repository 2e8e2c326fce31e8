/// An operation around another one, whose type contains the types of the modifiers.
private protocol OperationLayer {
  static func hasModifierInside(where isSought: (any Any.Type) -> Bool) -> Bool
  /// Appends the types of the layers around the innermost operation, innermost first.
  static func addModifierTypes(to types: inout [any Any.Type])
}

extension ModifiedOperation: OperationLayer {
  fileprivate static func hasModifierInside(where isSought: (any Any.Type) -> Bool) -> Bool {
    isSought(Modifier.self) || Operation.hasModifier(where: isSought)
  }

  fileprivate static func addModifierTypes(to types: inout [any Any.Type]) {
    (Operation.self as? any OperationLayer.Type)?.addModifierTypes(to: &types)
    types.append(Modifier.self)
  }
}

extension DefaultStateOperation: OperationLayer {
  fileprivate static func hasModifierInside(where isSought: (any Any.Type) -> Bool) -> Bool {
    Operation.hasModifier(where: isSought)
  }

  fileprivate static func addModifierTypes(to types: inout [any Any.Type]) {
    (Operation.self as? any OperationLayer.Type)?.addModifierTypes(to: &types)
    types.append(Self.self)
  }
}

extension IdempotentOperation: OperationLayer {
  fileprivate static func hasModifierInside(where isSought: (any Any.Type) -> Bool) -> Bool {
    Operation.hasModifier(where: isSought)
  }

  fileprivate static func addModifierTypes(to types: inout [any Any.Type]) {
    // A statement about the operation, not a modifier: a store made without it does the same.
    (Operation.self as? any OperationLayer.Type)?.addModifierTypes(to: &types)
  }
}

extension OperationRequest {
  /// Whether `isSought` returns true for the type of a modifier around the operation. Needs no run and no setup.
  package static func hasModifier(where isSought: (any Any.Type) -> Bool) -> Bool {
    (self as? any OperationLayer.Type)?.hasModifierInside(where: isSought) ?? false
  }

  /// The types of the modifiers around the operation, innermost first.
  static var modifierTypes: [any Any.Type] {
    var types: [any Any.Type] = []
    (self as? any OperationLayer.Type)?.addModifierTypes(to: &types)
    return types
  }

  /// The type names of the modifiers around the operation, for warnings: `Retry, ContextModifier`.
  static var modifierNames: String {
    let names = self.modifierTypes.map { String("\($0)".prefix { $0 != "<" }) }
    return names.isEmpty ? "no modifier" : names.joined(separator: ", ")
  }
}
