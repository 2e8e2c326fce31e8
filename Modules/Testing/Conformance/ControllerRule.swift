/// A rule for controllers, which stores rely on.
///
/// See `checkController`.
@nonexhaustive(warn)
public enum ControllerRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// The controller starts once, with its store: when it acts, the store changes once.
  case start
  /// Each of several stores is controlled.
  case stores
  /// The end of one store does not affect the others.
  case independence
  /// The controller does nothing to a store after its subscription was cancelled.
  case cancellation
  /// The controller does not retain a store after its end.
  case release
  /// The controller acts with no lock held.
  case unlocked
  /// While the controller acts, its stores may end, and others may begin.
  case reentrancy
  /// Stores may begin and end on several threads at the same time.
  case threads

  /// The name of the rule.
  public var description: String { self.rawValue }
}
