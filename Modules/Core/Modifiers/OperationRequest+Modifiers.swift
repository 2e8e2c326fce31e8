/// An operation around another one, which can tell what modifiers there are.
private protocol OperationLayer {
  static func hasModifierInside(where isSought: (any Any.Type) -> Bool) -> Bool
  /// Adds what is around the operation at the core, the innermost first.
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

extension OperationRequest {
  /// Whether the type of one of the modifiers around the operation is sought, which is known without any run or setup.
  package static func hasModifier(where isSought: (any Any.Type) -> Bool) -> Bool {
    (self as? any OperationLayer.Type)?.hasModifierInside(where: isSought) ?? false
  }

  /// The types of the modifiers around the operation, the innermost first.
  static var modifierTypes: [any Any.Type] {
    var types: [any Any.Type] = []
    (self as? any OperationLayer.Type)?.addModifierTypes(to: &types)
    return types
  }

  /// The modifiers around the operation by their names, for a report: `Retry, ContextModifier`.
  static var modifierNames: String {
    let names = self.modifierTypes.map { String("\($0)".prefix { $0 != "<" }) }
    return names.isEmpty ? "no modifier" : names.joined(separator: ", ")
  }
}
