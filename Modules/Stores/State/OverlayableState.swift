/// A state whose value can be replaced temporarily, as optimistic updates do.
public protocol OverlayableState: OperationState {
  /// Replaces the value without changing counts, dates or the error.
  mutating func replaceValue(with value: StateValue)

  /// Passes the original state to this copy, after the value of the copy was replaced temporarily.
  ///
  /// Called on the copy. Runs continue to use the original state. The default does nothing.
  mutating func didReplaceValue(inCopyOf original: Self)
}

extension OverlayableState {
  public mutating func didReplaceValue(inCopyOf original: Self) {}
}

extension QueryState: OverlayableState {
  public mutating func replaceValue(with value: Value?) {
    self.content.fields.currentValue = QueryContent.Value(value)
  }
}

extension DefaultOperationState: OverlayableState where Base: OverlayableState {
  public mutating func replaceValue(with value: Base.DefaultStateValue) {
    self.base.replaceValue(with: self.base.stateValue(for: value))
  }

  public mutating func didReplaceValue(inCopyOf original: Self) {
    self.base.didReplaceValue(inCopyOf: original.base)
  }
}
