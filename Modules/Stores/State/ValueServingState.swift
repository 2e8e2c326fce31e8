/// A state whose value is what a run returns, so that a caller can get it in place of the outcome of a run.
///
/// Conform your own state to answer calls of its stores with its value: see ``StoreCall/answerWithState(entries:)``.
public protocol ValueServingState: OperationState {
  /// The value that was set last, or an initial one of a known date, in the form in which a run returns it; nil without
  /// one.
  var servedValue: OperationValue? { get }
}

extension QueryState: ValueServingState {
  /// The value that was set last, or an initial one of a known date.
  public var servedValue: Value? { self.valueLastUpdatedAt == nil ? nil : self.currentValue }
}

extension DefaultOperationState: ValueServingState where Base: ValueServingState {
  /// The value that was set last, and never the default value.
  public var servedValue: Base.OperationValue? { self.base.servedValue }
}
