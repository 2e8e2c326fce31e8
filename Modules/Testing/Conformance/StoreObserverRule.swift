/// A rule for observers of stores, which stores rely on.
///
/// See `checkStoreObserver` and `checkStoreValueObserver`.
@nonexhaustive(warn)
public enum StoreObserverRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of events that it receives are always the same.
  case kinds
  /// It keeps no store alive.
  case release
  /// It may be called for several stores at the same time, on several threads.
  case threads
  /// It releases no value, error or context while it is called with the lock of a store held. For observers of values.
  case drops

  /// The name of the rule.
  public var description: String { self.rawValue }
}
