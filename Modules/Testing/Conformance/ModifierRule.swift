/// A rule for modifiers, which other modifiers and stores rely on.
///
/// See `checkModifier`.
@nonexhaustive(warn)
public enum ModifierRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// The modified operation returns the value that the operation returns.
  case value
  /// The modified operation throws the error that the operation throws.
  case error
  /// The modified operation yields the values and errors that the operation yields, in order.
  case yields
  /// The setup of the operation is called exactly once.
  case setup
  /// The entries of the run's context reach the operation.
  case context
  /// Cancelling the task of a run cancels the operation, and the call returns.
  case cancellation
  /// Each of several simultaneous runs has its own value. A modifier that shares runs breaks this rule on purpose.
  case independence
  /// Each wait that the modifier begins with `OperationContext.beginWait(for:)` ends before the run does.
  case waits
  /// The path does not change.
  case path

  /// The name of the rule.
  public var description: String { self.rawValue }
}
