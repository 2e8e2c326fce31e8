/// What a modifier that adds no meaning of its own keeps of the operation that it modifies.
///
/// See `checkModifier`.
public enum ModifierRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// The value that the operation returns is the one that the modified operation returns.
  case value
  /// The error that the operation throws is the one that the modified operation throws.
  case error
  /// What the operation yields, values and errors, is yielded by the modified operation, in order.
  case yields
  /// The setup of the operation is called, once.
  case setup
  /// What is in the context of the run reaches the operation.
  case context
  /// Cancelling the task of a run cancels the work, and the call returns.
  case cancellation
  /// Runs that go on at the same time have each their own value. A modifier that shares runs breaks this on purpose.
  case independence
  /// The path stays.
  case path

  /// The name of the rule.
  public var description: String { self.rawValue }
}
