/// A rule for run specifications, which stores rely on.
///
/// See `checkRunSpecification`.
@nonexhaustive(warn)
public enum RunSpecificationRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// Evaluating the condition does not change it: without a change, the value stays the same.
  case purity
  /// `onChange` is called after each change, to true and to false.
  case announcement
  /// When `onChange` is called, `isSatisfied(in:)` returns the new value.
  case answer
  /// Each of many subscribers is called.
  case subscribers
  /// Cancelling one subscription does not affect the others.
  case independence
  /// `onChange` is not called after its subscription was cancelled or dropped.
  case cancellation
  /// Cancelling or dropping a subscription releases `onChange`.
  case release
  /// `onChange` is called, and released, with no lock held.
  case unlocked
  /// `onChange` may evaluate the condition, subscribe, and cancel its own subscription.
  case reentrancy
  /// Several threads may evaluate the condition, subscribe and cancel at the same time.
  case threads

  /// The name of the rule.
  public var description: String { self.rawValue }
}
