/// What stores rely on in a controller.
///
/// See `checkController`.
public enum ControllerRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// The controller begins with its store, once: when it acts, the store changes once.
  case start
  /// Each of several stores is controlled.
  case stores
  /// The end of one store leaves the others.
  case independence
  /// The controller does nothing to a store after its subscription was cancelled.
  case cancellation
  /// Nothing of a store is left after its end.
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
