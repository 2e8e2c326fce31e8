/// What an ``InMemoryFleet`` keeps: the rules of a ``FleetBackend``, each call in one step at a time that it is given.
struct FleetTable: Sendable {
  struct Value: Sendable {
    let bytes: [UInt8]
    let revision: Int64
    let epoch: FleetEpoch
    let storedAt: Duration
    let end: Duration
    /// The subjects of the key, and the tags.
    let subjects: [FleetSubject]
  }

  struct Lease: Sendable {
    let owner: String
    let token: Int64
    var end: Duration
    /// Whether a request was refused because of the lease.
    var isAwaited = false
  }

  struct Invalidation: Sendable {
    let epoch: FleetEpoch
    let node: String
  }

  /// By the texts of the keys.
  private(set) var values: [String: Value] = [:]
  private(set) var leases: [String: Lease] = [:]
  /// The last invalidation of each subject.
  private(set) var invalidations: [String: Invalidation] = [:]
  private(set) var epoch = FleetEpoch.zero
  /// Work that has seen a lower epoch is invalidated.
  private(set) var floor = FleetEpoch.zero
  /// The last token and the last revision: one count for all keys.
  private var lastNumber: Int64 = 0
  let maximumValues: Int
  let maximumInvalidations: Int

  init(maximumValues: Int, maximumInvalidations: Int) {
    self.maximumValues = maximumValues
    self.maximumInvalidations = maximumInvalidations
  }
}

// MARK: - Values

extension FleetTable {
  func lookUp(_ keys: [FleetKey], at now: Duration) -> FleetLookup {
    FleetLookup(values: keys.map { self.freshValue($0, at: now) }, epoch: self.epoch)
  }

  private func freshValue(_ key: FleetKey, at now: Duration) -> FleetValue? {
    guard let value = self.values[key.text], value.end > now,
      !self.isInvalidated(value.subjects, since: value.epoch)
    else { return nil }
    return FleetValue(
      bytes: value.bytes,
      revision: value.revision,
      epoch: value.epoch,
      age: max(now - value.storedAt, .zero)
    )
  }

  private func isInvalidated(_ subjects: [FleetSubject], since epoch: FleetEpoch) -> Bool {
    if epoch < self.floor { return true }
    return subjects.contains { self.invalidations[$0.text].map { $0.epoch > epoch } ?? false }
  }

  mutating func store(_ write: FleetWrite, at now: Duration) -> (FleetWriteAnswer, FleetMessage?) {
    let key = write.lease.key.text
    guard let lease = self.leases[key], lease.token == write.lease.token, lease.end > now else {
      return (.leaseEnded, nil)
    }
    self.leases[key] = nil
    let subjects = write.lease.key.subjects + write.tags
    if self.isInvalidated(subjects, since: write.epoch) {
      return (.invalidated, lease.isAwaited ? .released(key: key) : nil)
    }
    self.lastNumber += 1
    let revision = self.lastNumber
    if self.values[key] == nil, self.values.count >= self.maximumValues { self.makeRoom(at: now) }
    self.values[key] = Value(
      bytes: write.bytes,
      revision: revision,
      epoch: write.epoch,
      storedAt: now,
      end: now + write.timeToLive,
      subjects: subjects
    )
    let isAnnounced = lease.isAwaited || write.isAnnounced
    return (.stored(revision: revision), isAnnounced ? .stored(key: key, revision: revision) : nil)
  }

  /// Removes values that have ended, and if that is too few, the oldest half.
  private mutating func makeRoom(at now: Duration) {
    self.values = self.values.filter { $0.value.end > now }
    guard self.values.count > self.maximumValues / 2 else { return }
    let median = self.values.values.map(\.revision).sorted()[self.values.count / 2]
    self.values = self.values.filter { $0.value.revision > median }
  }
}

// MARK: - Leases

extension FleetTable {
  mutating func acquireLease(_ request: FleetLeaseRequest, at now: Duration) -> FleetLeaseAnswer {
    if let value = self.freshValue(request.key, at: now), value.revision > request.knownRevision ?? 0 {
      return .fresh(value, epoch: self.epoch)
    }
    let key = request.key.text
    if let lease = self.leases[key], lease.end > now {
      guard lease.owner == request.owner else {
        self.leases[key]?.isAwaited = true
        return .heldByAnother(owner: lease.owner, remaining: lease.end - now)
      }
      // A request that has arrived twice leaves no second lease behind.
      self.leases[key]?.end = now + request.duration
      return .granted(FleetLease(key: request.key, owner: lease.owner, token: lease.token), epoch: self.epoch)
    }
    if self.leases.count >= self.maximumValues { self.leases = self.leases.filter { $0.value.end > now } }
    self.lastNumber += 1
    self.leases[key] = Lease(owner: request.owner, token: self.lastNumber, end: now + request.duration)
    return .granted(FleetLease(key: request.key, owner: request.owner, token: self.lastNumber), epoch: self.epoch)
  }

  mutating func renewLease(_ lease: FleetLease, for duration: Duration, at now: Duration) -> Bool {
    let key = lease.key.text
    guard let held = self.leases[key], held.token == lease.token, held.end > now else { return false }
    self.leases[key]?.end = now + duration
    return true
  }

  mutating func releaseLease(_ lease: FleetLease, at now: Duration) -> FleetMessage? {
    let key = lease.key.text
    guard let held = self.leases[key], held.token == lease.token, held.end > now else { return nil }
    self.leases[key] = nil
    return held.isAwaited ? .released(key: key) : nil
  }
}

// MARK: - Invalidations

extension FleetTable {
  mutating func invalidate(_ subjects: [FleetSubject], by node: String) -> (FleetEpoch, FleetMessage) {
    self.epoch = FleetEpoch(rawValue: self.epoch.rawValue + 1)
    for subject in subjects {
      self.invalidations[subject.text] = Invalidation(epoch: self.epoch, node: node)
    }
    if self.invalidations.count > self.maximumInvalidations { self.forgetInvalidations() }
    return (self.epoch, .invalidated(self.epoch))
  }

  /// Forgets the older half, and makes their last epoch the floor.
  private mutating func forgetInvalidations() {
    let median = self.invalidations.values.map(\.epoch).sorted()[self.invalidations.count / 2]
    self.floor = median
    self.invalidations = self.invalidations.filter { $0.value.epoch > median }
  }

  func invalidations(since epoch: FleetEpoch) -> FleetInvalidations {
    if epoch < self.floor || epoch > self.epoch { return .everything(upTo: self.epoch) }
    let later = epoch == self.epoch ? [:] : self.invalidations.filter { $0.value.epoch > epoch }
    if later.count > FleetLimits.invalidations { return .everything(upTo: self.epoch) }
    let list = later.map { FleetInvalidation(of: FleetSubject($0), epoch: $1.epoch, by: $1.node) }
    return .listed(list, upTo: self.epoch)
  }

  /// Forgets all values, leases and invalidations, as after a crash: a new epoch is the floor.
  mutating func lose() {
    self.values = [:]
    self.leases = [:]
    self.invalidations = [:]
    self.epoch = FleetEpoch(rawValue: self.epoch.rawValue + 1)
    self.floor = self.epoch
  }
}
