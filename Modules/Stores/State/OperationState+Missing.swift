// Members for modules that show a substitute while a value is missing.
extension OperationState {
  /// Whether the value is nil or stands for a missing one. A default value does not count.
  ///
  /// A state that cannot tell a missing value from others has no value before the first one is set.
  package var showsNoValue: Bool {
    if let state = self as? any DefaultableOperationState { return Self.showsNoValue(state) }
    if let state = self as? any LayeredOperationState { return state.base.showsNoValue }
    return self.valueUpdateCount == 0
  }

  /// Whether the value is the default value of a ``DefaultOperationState``, in place of a missing one.
  package var isDefaultShown: Bool {
    if let state = self as? any DefaultShowingState { return state.isPlaceholder }
    if let state = self as? any LayeredOperationState { return state.base.isDefaultShown }
    return false
  }

  private static func showsNoValue<State: DefaultableOperationState>(_ state: State) -> Bool {
    state.isMissing(state.currentValue)
  }
}

/// A ``DefaultOperationState`` of any type.
private protocol DefaultShowingState {
  var isPlaceholder: Bool { get }
}

extension DefaultOperationState: DefaultShowingState {}
