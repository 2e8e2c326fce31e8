/// A rule for backends, which the nodes of a fleet rely on.
///
/// See `checkFleetBackend`.
@nonexhaustive(warn)
public enum FleetBackendRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// The bytes of a value come back as they were stored: none, each of the 256, and a million; the newest value wins.
  case values
  /// Keys and subjects are compared byte by byte, whatever characters of ASCII they have and however long they are.
  case keys
  /// A call with many keys, many subjects or many requests for leases answers for each, in order.
  case batches
  /// A value ends by the clock of the backend, which also tells its age.
  case timeToLive
  /// Of several owners one holds a lease, until it ends or is released.
  case leases
  /// Each lease of a key has a higher token than those before it, and of an owner that asks again one token is valid.
  case tokens
  /// A renewed lease lasts from its renewal on, and one that is not held is not renewed.
  case renewal
  /// A fresh value answers a request for the lease, unless the request knows its revision.
  case answers
  /// A value whose lease is not held any more is refused, and what another owner has stored stays.
  case fencing
  /// An invalidation of any subject of a value, or of its tags, ends its freshness, and touches no other value.
  case invalidations
  /// A value is refused if one of its subjects was invalidated after the epoch that its run has seen.
  case lateValues
  /// Each invalidation has a higher epoch than those before it, and each answer has all up to its epoch in effect.
  case epochs
  /// Invalidations after an epoch are listed: each subject once, with its last one.
  case listing
  /// An epoch that the backend cannot answer for is answered with "everything".
  case forgetting
  /// Nodes are told of invalidations, and of values and released leases that a node waits for, or that ask for it.
  case messages
  /// Tasks that call at the same time get one lease, different epochs, and lose nothing.
  case concurrency
  /// Another connection finds what the first one has stored, and hears of it.
  case connections
  /// Two thousand random calls are answered as `InMemoryFleet` answers them.
  case model
  /// After `close()` each call throws, and closing again has no effect.
  case closing

  /// The name of the rule.
  public var description: String { self.rawValue }
}
