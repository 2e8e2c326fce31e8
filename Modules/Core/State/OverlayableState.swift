/// A state whose value can be shown otherwise for a while: what optimistic updates are laid over.
public protocol OverlayableState: OperationState {
  /// Shows another value. Nothing else changes: no count, no date, no error.
  mutating func replaceValue(with value: StateValue)

  /// Called on a state whose value was replaced for a while, with the state beneath, on which runs go on to work. Does
  /// nothing unless you say otherwise.
  mutating func noteStateBeneath(_ state: Self)
}

extension OverlayableState {
  @inlinable
  public mutating func noteStateBeneath(_ state: Self) {}
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

  @inlinable
  public mutating func noteStateBeneath(_ state: Self) {
    self.base.noteStateBeneath(state.base)
  }
}
