internal import OperationCore
internal import Synchronization

/// Removes values that are too old, whether stores for them are made or not, in small steps between the writes.
extension StateWriter {
  private static let sweepInterval = Duration.seconds(3_600)
  /// The number of values that are read in one step.
  private static let maximumStep = 64

  /// Compares the values of the storage with what is known of them.
  func beginSweep() async {
    let (time, ages, limits) = self.state.withLock { state in
      state.upkeep.isSweepDue = false
      state.upkeep.sweep = nil
      return (state.upkeep.time, state.upkeep.ages, state.upkeep.limits)
    }
    guard let time else { return }
    // While the date of the clock is none, nothing is too old.
    let now = time.now ?? .min
    do {
      // What is to be removed does not count.
      if self.isShared { try await self.loadInvalidations() }
      try await self.finishRemoval()
      let records = try await self.storage.entries(withPrefix: StorageKey.uses)
      // Most storages have neither.
      guard !records.isEmpty || !ages.isEmpty || limits != nil else { return }
      let sizes = try await self.storage.sizes(withPrefix: StorageKey.values)
      let (sweep, index) = StateSweep.plan(records, sizes, ages: ages, now: now)
      self.state.withLock { state in
        if state.upkeep.limits != nil {
          state.upkeep.index = index
          for (key, used) in state.upkeep.uses where state.upkeep.index?.use(key, at: used) == nil {
            state.upkeep.uses[key] = nil
          }
        }
        if !sweep.isEmpty { state.upkeep.sweep = sweep }
      }
      await self.trim()
      self.scheduleSweep(after: Self.sweepInterval, time)
    } catch {
      self.report(error, in: "find values that are too old or exceed its limits. It is tried again in a minute")
      self.scheduleSweep(after: .seconds(60), time)
    }
  }

  func report(_ error: any Error, in action: String) {
    // A program ends whenever it likes.
    if (error as? StorageError)?.code == .closed { return }
    OperationWarning.report(storageFailedTo: action, error)
  }

  private func scheduleSweep(after delay: Duration, _ time: StateUpkeep.Time) {
    let number = self.state.withLock { $0.upkeep.sweepDeadline.reserve() }
    let deadline = time.deadlines.schedule(after: delay) { [weak self] in
      self?.change { upkeep, _ in
        if upkeep.sweepDeadline.isCurrent(number) { upkeep.isSweepDue = true }
      }
    }
    self.state.withLock { $0.upkeep.sweepDeadline.keep(deadline, number: number) }?.cancel()
  }

  /// Does a small part of what a sweep has found.
  func continueSweep() async {
    let (time, part) = self.state.withLock { state -> (StateUpkeep.Time?, StateSweep?) in
      let part = state.upkeep.sweep?.takePart(Self.maximumStep)
      if state.upkeep.sweep?.isEmpty == true { state.upkeep.sweep = nil }
      return (state.upkeep.time, part)
    }
    guard let part, let now = time?.now else { return self.state.withLock { $0.upkeep.sweep = nil } }
    do {
      try await self.removeOrphans(part.orphans)
      try await self.removeExpired(part.expired, at: now)
      for key in part.undated { try await self.date(key, maximumAge: nil, at: now) }
    } catch {
      self.state.withLock { $0.upkeep.sweep = nil }
      self.report(error, in: "remove values that are too old. It is tried again in an hour")
    }
  }

  private func removeOrphans(_ keys: [String]) async throws {
    var removed: [StorageChange] = []
    for key in keys {
      let value = StorageKey.value(ofUse: key)
      // A value may have been put meanwhile.
      if try await self.storage.sizes(withPrefix: value).allSatisfy({ $0.key != value }) {
        removed.append(.remove(key: key))
      }
    }
    if !removed.isEmpty { try await self.storage.apply(removed) }
  }

  private func removeExpired(_ values: [(key: String, record: UseRecord)], at now: Int64) async throws {
    var found: [(key: String, condition: StorageCondition)] = []
    for (key, record) in values where !self.willBeWritten(key) {
      guard let entry = try await self.storage.entry(with: key) else { continue }
      // A program that knows no records may have stored a newer value.
      guard UseRecord.checksum(of: entry.value) == record.checksum else {
        try await self.date(key, maximumAge: record.maximumAge, at: now)
        continue
      }
      found.append((key, .unchanged(key: key, entry.version)))
    }
    let keys = try await self.remove(found)
    self.state.withLock { state in
      state.upkeep.didRemove(keys, because: "removed, because it was older than its maximum age")
      state.upkeep.expirationCount += keys.count
      for key in keys { state.cache.touch(key) }
    }
  }

  /// Removes values that are as they were read. Returns the keys of those that were removed.
  private func remove(_ values: [(key: String, condition: StorageCondition)]) async throws -> [String] {
    if values.isEmpty { return [] }
    let changes = values.flatMap { Self.removal(of: $0.key) }
    if case .made = try await self.storage.apply(changes, if: values.map(\.condition)) { return values.map(\.key) }
    // Another process has stored a newer one meanwhile, and the others go.
    guard values.count > 1 else { return [] }
    var removed: [String] = []
    for value in values { removed += try await self.remove([value]) }
    return removed
  }

  /// Lets the age of a value count from now, because nothing tells when it was set.
  private func date(_ key: String, maximumAge: Int64?, at now: Int64) async throws {
    guard !self.willBeWritten(key), let entry = try await self.storage.entry(with: key) else { return }
    let known = self.state.withLock { $0.upkeep.index?.rows[key]?.record }
    let age = StorageKey.escapedName(ofValue: key).flatMap { name in
      self.state.withLock { $0.upkeep.ages[String(name)] }
    }
    let record = UseRecord(
      used: known?.used ?? now,
      dated: now,
      maximumAge: maximumAge ?? age,
      checksum: UseRecord.checksum(of: entry.value)
    )
    // A record of a value that was removed meanwhile, or is being removed with all others, would show its path. One that was changed
    // has a record of its own.
    _ = try await self.applyInEra(
      [.put(key: StorageKey.use(ofValue: key), value: record.bytes)],
      if: [.unchanged(key: key, entry.version)]
    )
  }

  /// Whether a newer value, with a record of its own, is about to be written.
  private func willBeWritten(_ key: String) -> Bool { self.state.withLock { $0.pending[key] != nil } }
}

extension StateSweep {
  /// Takes a part of what is to be done.
  fileprivate mutating func takePart(_ count: Int) -> StateSweep {
    var part = StateSweep()
    if !self.orphans.isEmpty {
      part.orphans = Array(self.orphans.suffix(count))
      self.orphans.removeLast(part.orphans.count)
    } else if !self.expired.isEmpty {
      part.expired = Array(self.expired.suffix(count))
      self.expired.removeLast(part.expired.count)
    } else {
      part.undated = Array(self.undated.suffix(count))
      self.undated.removeLast(part.undated.count)
    }
    return part
  }
}
