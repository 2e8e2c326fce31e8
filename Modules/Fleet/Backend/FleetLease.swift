/// The right of one owner to compute the value of a key, until a time by the clock of the backend.
public struct FleetLease: Hashable, Sendable {
  /// The key.
  public let key: FleetKey

  /// Identifies the owner, as it has asked: unique among all nodes.
  public let owner: String

  /// The fencing token: higher than the token of each lease of the key that was granted before.
  public let token: Int64

  /// Creates a lease.
  public init(key: FleetKey, owner: String, token: Int64) {
    self.key = key
    self.owner = owner
    self.token = token
  }
}

/// Asks for the lease of a key.
public struct FleetLeaseRequest: Hashable, Sendable {
  /// The key.
  public let key: FleetKey

  /// Identifies the owner: unique among all nodes.
  public let owner: String

  /// How long the lease lasts.
  public let duration: Duration

  /// A value up to this revision does not answer the request; nil if each fresh value does.
  ///
  /// A node passes the revision of a value that it cannot decode.
  public let knownRevision: Int64?

  /// Creates a request.
  public init(key: FleetKey, owner: String, duration: Duration, knownRevision: Int64? = nil) {
    self.key = key
    self.owner = owner
    self.duration = duration
    self.knownRevision = knownRevision
  }
}

/// The answer of ``FleetBackend/acquireLease(_:)`` and ``FleetBackend/acquireLeases(_:)``.
@nonexhaustive(warn)
public enum FleetLeaseAnswer: Hashable, Sendable {
  /// The owner holds the lease. A run that begins now has seen the epoch.
  case granted(FleetLease, epoch: FleetEpoch)

  /// There is a fresh value, so no run is needed.
  case fresh(FleetValue, epoch: FleetEpoch)

  /// Another owner holds the lease, which ends after this time unless it is renewed or released.
  case heldByAnother(owner: String, remaining: Duration)
}
