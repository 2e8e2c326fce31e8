public import OperationCore

/// A state whose value is what a run returns, so that a caller can get it in place of the outcome of a run.
///
/// Conform your own state to use `servesStale(after:for:)` with it.
public protocol ValueServingState: OperationState {
  /// The value that was set last, in the form in which a run returns it; nil without one.
  var servedValue: OperationValue? { get }
}

extension QueryState: ValueServingState {
  public var servedValue: Value? { self.valueUpdateCount > 0 ? self.currentValue : nil }
}

extension DefaultOperationState: ValueServingState where Base: ValueServingState {
  public var servedValue: Base.OperationValue? { self.base.servedValue }
}

/// The value of a state whose types are unknown.
enum ServedValue {
  /// The value as the outcome of a run; nil without one.
  static func outcome(of state: any OperationState & Sendable) -> RunOutcome? {
    (state as? any ValueServingState).flatMap { self.outcome($0) }
  }

  private static func outcome<State: ValueServingState>(_ state: State) -> RunOutcome? {
    state.servedValue.map { RunSuccess<State.OperationValue>($0) }
  }

  /// The value of a state, if it has this type.
  static func value<Value>(of state: any OperationState, as type: Value.Type) -> Value? {
    (state as? any ValueServingState)?.servedValue as? Value
  }
}
