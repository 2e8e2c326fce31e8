/// A state whose value can be shown otherwise for a while: what optimistic updates are laid over.
public protocol OverlayableState: OperationState {
  /// Shows another value. Nothing else changes: no count, no date, no error.
  mutating func replaceValue(with value: StateValue)
}

extension QueryState: OverlayableState {
  @inlinable
  public mutating func replaceValue(with value: Value?) {
    self.uniqueStorage().currentValue = value
  }
}

extension DefaultOperationState: OverlayableState where Base: OverlayableState {
  @inlinable
  public mutating func replaceValue(with value: Base.DefaultStateValue) {
    self.base.replaceValue(with: self.base.stateValue(for: value))
  }
}
