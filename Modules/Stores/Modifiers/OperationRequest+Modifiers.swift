/// An operation around another one, whose type contains the types of the modifiers.
protocol OperationLayer {
  /// The operation that the layer is around.
  var operationInside: any OperationRequest { get }
  static func hasModifierInside(where isSought: (any Any.Type) -> Bool) -> Bool
  /// Appends the types of the layers around the innermost operation, innermost first.
  static func addModifierTypes(to types: inout [any Any.Type])
  /// Appends the modifiers around the innermost operation as they are written, innermost first.
  func addModifierTexts(to texts: inout [String])
  /// The modifier of this layer; nil for a layer without one.
  var modifierOfLayer: (any Sendable)? { get }
}

extension ModifiedOperation: OperationLayer {
  var operationInside: any OperationRequest { self.operation }

  static func hasModifierInside(where isSought: (any Any.Type) -> Bool) -> Bool {
    isSought(Modifier.self) || Operation.hasModifier(where: isSought)
  }

  static func addModifierTypes(to types: inout [any Any.Type]) {
    (Operation.self as? any OperationLayer.Type)?.addModifierTypes(to: &types)
    types.append(Modifier.self)
  }

  func addModifierTexts(to texts: inout [String]) {
    (self.operation as? any OperationLayer)?.addModifierTexts(to: &texts)
    texts.append(self.modifier.sourceText)
  }

  var modifierOfLayer: (any Sendable)? { self.modifier }
}

extension OperationLayer {
  var modifierOfLayer: (any Sendable)? { nil }
}

extension DefaultStateOperation: OperationLayer {
  var operationInside: any OperationRequest { self.operation }

  static func hasModifierInside(where isSought: (any Any.Type) -> Bool) -> Bool {
    Operation.hasModifier(where: isSought)
  }

  static func addModifierTypes(to types: inout [any Any.Type]) {
    (Operation.self as? any OperationLayer.Type)?.addModifierTypes(to: &types)
    types.append(Self.self)
  }

  func addModifierTexts(to texts: inout [String]) {
    (self.operation as? any OperationLayer)?.addModifierTexts(to: &texts)
    texts.append(".defaultValue(_:)")
  }
}

extension IdempotentOperation: OperationLayer {
  var operationInside: any OperationRequest { self.operation }

  static func hasModifierInside(where isSought: (any Any.Type) -> Bool) -> Bool {
    Operation.hasModifier(where: isSought)
  }

  static func addModifierTypes(to types: inout [any Any.Type]) {
    // This is a statement about the operation and not a modifier: a store made without it does the same.
    (Operation.self as? any OperationLayer.Type)?.addModifierTypes(to: &types)
  }

  func addModifierTexts(to texts: inout [String]) {
    (self.operation as? any OperationLayer)?.addModifierTexts(to: &texts)
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

  /// The modifiers around the operation as they are written: `.stale(after: 1 min).retry(limit: 3)`.
  var modifierText: String { self.modifierTexts.joined() }

  /// The modifiers around the operation as they are written, innermost first.
  var modifierTexts: [String] {
    var texts: [String] = []
    (self as? any OperationLayer)?.addModifierTexts(to: &texts)
    return texts
  }

  /// The operation of a type that is this one, or inside of its modifiers; nil if there is none.
  package func inside<Operation: OperationRequest>(as type: Operation.Type) -> Operation? {
    var next: any OperationRequest = self
    while true {
      if let operation = next as? Operation { return operation }
      guard let layer = next as? any OperationLayer else { return nil }
      next = layer.operationInside
    }
  }

  /// The modifiers around the operation, outermost first.
  var modifiers: [any Sendable] {
    var modifiers: [any Sendable] = []
    var next = self as? any OperationLayer
    while let layer = next {
      if let modifier = layer.modifierOfLayer { modifiers.append(modifier) }
      next = layer.operationInside as? any OperationLayer
    }
    return modifiers
  }
}
