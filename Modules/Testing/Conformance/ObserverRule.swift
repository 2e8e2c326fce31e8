/// A rule for observers of the network, of activity, of memory and the like, which conditions rely on.
///
/// See `checkObserver`.
@nonexhaustive(warn)
public enum ObserverRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// A handler receives the current value before `subscribe` returns.
  ///
  /// An observer that only reports changes breaks this rule on purpose.
  case current
  /// The current value that can be read without a subscription is the one that a new subscriber receives.
  case reading
  /// Each change is delivered.
  case changes
  /// Values are delivered in the order in which they came, and the last one is delivered.
  case order
  /// Each of many subscribers is called, in the order of their subscriptions.
  case subscribers
  /// Cancelling one subscription does not affect the others.
  case independence
  /// A handler is not called after its subscription was cancelled or dropped.
  case cancellation
  /// Cancelling or dropping a subscription releases the handler, and the observer may be released before that.
  case release
  /// Handlers are called, and released, with no lock held.
  case unlocked
  /// A handler may read the value, subscribe, and cancel its own subscription.
  case reentrancy
  /// A value that comes while handlers are called is delivered to all of them after the current one.
  case nesting
  /// Several threads may read the value, subscribe and cancel at the same time.
  case threads

  /// The name of the rule.
  public var description: String { self.rawValue }
}
