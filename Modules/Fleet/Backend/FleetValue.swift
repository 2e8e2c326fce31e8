/// A fresh value, as a ``FleetBackend`` returns it.
public struct FleetValue: Hashable, Sendable {
  /// The bytes, as they were stored.
  public let bytes: [UInt8]

  /// The number of the value, higher than the number of each earlier value of its key.
  public let revision: Int64

  /// The epoch that its run had seen before it began.
  public let epoch: FleetEpoch

  /// The time since it was stored, by the clock of the backend.
  public let age: Duration

  /// Creates a value.
  public init(bytes: [UInt8], revision: Int64, epoch: FleetEpoch, age: Duration) {
    self.bytes = bytes
    self.revision = revision
    self.epoch = epoch
    self.age = age
  }
}

/// The answer of ``FleetBackend/lookUp(_:)``.
public struct FleetLookup: Hashable, Sendable {
  /// The value of each key, in the order of the keys; nil for a key without a fresh value.
  ///
  /// A value is fresh if its time to live has not passed by the clock of the backend, no invalidation of one of its
  /// subjects has a higher epoch than the value, and that epoch is not lower than the floor.
  public let values: [FleetValue?]

  /// The epoch of the moment at which the values were looked up.
  public let epoch: FleetEpoch

  /// Creates an answer.
  public init(values: [FleetValue?], epoch: FleetEpoch) {
    self.values = values
    self.epoch = epoch
  }
}

/// A value to store.
public struct FleetWrite: Hashable, Sendable {
  /// The lease under which the value was computed; its key is the key of the value.
  public let lease: FleetLease

  /// The epoch of the answer that granted the lease, before the run began.
  public let epoch: FleetEpoch

  /// The tags of the value, in addition to the subjects of its key, each once; at most ``FleetLimits/batch``.
  public let tags: [FleetSubject]

  /// The bytes.
  public let bytes: [UInt8]

  /// How long the value is fresh from now on, by the clock of the backend; then it may be removed.
  ///
  /// Where a stale value may be served, it is the time for which it may, and nodes look at its age.
  public let timeToLive: Duration

  /// Whether nodes are told of the value although none has waited for it.
  public let isAnnounced: Bool

  /// Creates a value to store.
  public init(
    lease: FleetLease,
    epoch: FleetEpoch,
    tags: [FleetSubject] = [],
    bytes: [UInt8],
    timeToLive: Duration,
    isAnnounced: Bool = false
  ) {
    self.lease = lease
    self.epoch = epoch
    self.tags = tags
    self.bytes = bytes
    self.timeToLive = timeToLive
    self.isAnnounced = isAnnounced
  }
}

/// The answer of ``FleetBackend/store(_:)``.
@nonexhaustive(warn)
public enum FleetWriteAnswer: Hashable, Sendable {
  /// The value is stored, with this revision.
  case stored(revision: Int64)

  /// The lease was not held any more. What another node has stored, or stores, stays.
  case leaseEnded

  /// One of its subjects was invalidated after the run began.
  case invalidated
}
