/// An operation around another one, which can tell what modifiers there are.
private protocol OperationLayer {
  static func hasModifierInside(where isSought: (any Any.Type) -> Bool) -> Bool
}

extension ModifiedOperation: OperationLayer {
  fileprivate static func hasModifierInside(where isSought: (any Any.Type) -> Bool) -> Bool {
    isSought(Modifier.self) || Operation.hasModifier(where: isSought)
  }
}

extension DefaultStateOperation: OperationLayer {
  fileprivate static func hasModifierInside(where isSought: (any Any.Type) -> Bool) -> Bool {
    Operation.hasModifier(where: isSought)
  }
}

extension OperationRequest {
  /// Whether the type of one of the modifiers around the operation is sought, which is known without any run or setup.
  package static func hasModifier(where isSought: (any Any.Type) -> Bool) -> Bool {
    (self as? any OperationLayer.Type)?.hasModifierInside(where: isSought) ?? false
  }
}
