internal import OperationCore
internal import OperationFoundation

/// What a writer knows for keeping its storage small: limits, ages, and when values were used.
struct StateUpkeep: Sendable {
  /// The time of a client.
  struct Time: Sendable {
    let clock: any OperationClock & Sendable
    let deadlines: any DeadlineSource

    /// The seconds since the reference date; nil if the date of the clock is none.
    var now: Int64? { UseRecord.seconds(self.clock.now()) }
  }

  /// The time by which values become old; nil until a client asks for upkeep.
  var time: Time?
  var limits: StorageLimits?
  /// The values of the storage, if there are limits and they were read.
  var index: StateIndex?
  /// How old values may become, in seconds, by their names as in keys.
  var ages: [String: Int64] = [:]

  /// The uses that are not written yet, in seconds since the reference date, by the keys of their values.
  var uses: [String: Int64] = [:]
  var areUsesDue = false
  var useDeadline = SubscriptionSlot()

  /// Whether the storage is to be looked through from the beginning.
  var isSweepDue = false
  /// What is left of looking through it.
  var sweep: StateSweep?
  var sweepDeadline = SubscriptionSlot()

  var unstored = UnstoredValues()
  var evictionCount = 0
  var expirationCount = 0
  var rejectionCount = 0
  /// Those who wait until there is nothing to do.
  var idleWaiters: [AwaitedOutcome<Void>] = []
}

extension StateUpkeep {
  /// Uses that follow the one that is stored within so many seconds are not written.
  private static let precision: Int64 = 60

  /// Whether there are limits, and the values are not known yet.
  var lacksIndex: Bool { self.limits != nil && self.index == nil && self.isSweepDue }

  /// Notes that a value was used.
  ///
  /// - Returns: Whether it is the first use to be written.
  mutating func noteUse(of key: String, at now: Int64) -> Bool {
    guard self.limits != nil else { return false }
    if self.index != nil {
      guard let record = self.index?.use(key, at: now) else { return false }
      let (age, isFar) = now.subtractingReportingOverflow(record.used)
      if !isFar, (0..<Self.precision).contains(age) { return false }
    }
    self.uses[key] = now
    return self.uses.count == 1
  }

  /// Notes that changes were made.
  mutating func didWrite(_ changes: some Sequence<StateBatch.Change>) {
    for change in changes where change.isOfValue {
      let key = change.value.key
      self.unstored.clear(key)
      guard self.index != nil else { continue }
      self.uses[key] = nil
      if case .put(_, let bytes) = change.value, let record = change.record {
        self.index?.set(key, byteCount: bytes.count, record)
      } else {
        self.index?.remove(key)
      }
    }
  }

  /// Notes that values were removed by the upkeep.
  mutating func didRemove(_ keys: some Sequence<String>, because reason: String) {
    for key in keys {
      self.index?.remove(key)
      self.uses[key] = nil
      self.unstored.note(key, reason)
    }
  }

  /// Notes that the values at some paths were removed on demand.
  mutating func didRemoveAll(withPrefix prefix: String) {
    self.index?.removeAll(withPrefix: prefix)
    for key in self.uses.keys where key.hasPrefix(prefix) { self.uses[key] = nil }
  }

  /// Takes uses that are to be written, at most so many.
  mutating func takeUses(_ count: Int) -> [StorageChange] {
    var changes: [StorageChange] = []
    for key in self.uses.keys.prefix(count) {
      self.uses[key] = nil
      if let record = self.index?.rows[key]?.record {
        changes.append(.put(key: StorageKey.use(ofValue: key), value: record.bytes))
      }
    }
    if self.uses.isEmpty { self.areUsesDue = false }
    return changes
  }
}
