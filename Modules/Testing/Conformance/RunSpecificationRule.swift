/// What stores rely on in a run specification.
///
/// See `checkRunSpecification`.
public enum RunSpecificationRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// Asking changes nothing: without a change, the answer stays the same.
  case purity
  /// `onChange` is called after each change, to true and to false.
  case announcement
  /// When `onChange` is called, `isSatisfied(in:)` has the new answer.
  case answer
  /// Each of many subscribers is called.
  case subscribers
  /// Cancelling one subscription leaves the others.
  case independence
  /// `onChange` is not called after its subscription was cancelled or dropped.
  case cancellation
  /// Cancelling or dropping a subscription releases `onChange`.
  case release
  /// `onChange` is called, and released, with no lock held.
  case unlocked
  /// `onChange` may ask, subscribe, and cancel its own subscription.
  case reentrancy
  /// Several threads may ask, subscribe and cancel at the same time.
  case threads

  /// The name of the rule.
  public var description: String { self.rawValue }
}
