/// A rule for caches of stores, which clients rely on.
///
/// See `checkStoreCache`.
@nonexhaustive(warn)
public enum StoreCacheRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// An idle store stays for later look-ups.
  ///
  /// A cache that keeps no idle store breaks this rule on purpose.
  case keeping
  /// An idle store is evicted after the cache time of its context, by the deadlines of its context.
  ///
  /// A date that the cache returns from `evictionDate(of:)` is the end of that time.
  case cacheTime
  /// The cache time starts again when a store was in use.
  case activity
  /// Clients that share the cache have separate stores at the same path.
  case clients
  /// A store is released after its client has removed it.
  case release
  /// Stores are evicted, and released, with no lock held.
  case unlocked
  /// While a store is evicted, others may become idle or be in use again.
  ///
  /// A cache that breaks ``unlocked`` may lock itself again here, which waits forever or ends the process.
  case reentrancy
  /// Clients that share the cache may use it on several threads at the same time.
  case threads

  /// The name of the rule.
  public var description: String { self.rawValue }
}
