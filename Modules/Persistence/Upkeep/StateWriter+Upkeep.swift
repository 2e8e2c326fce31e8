internal import OperationCore
internal import Synchronization

extension StateWriter {
  private static let useDelay = Duration.seconds(60)
  /// The number of uses that one batch writes.
  static let maximumUses = 1_024

  /// Sets the time of the upkeep, and begins to look through the storage.
  func beginUpkeep(_ time: StateUpkeep.Time) {
    self.change { upkeep, released in
      released.append(upkeep.time)
      upkeep.time = time
      upkeep.isSweepDue = true
    }
  }

  /// Sets the limits of the storage, and begins to keep them; with nil, ends to.
  func setLimits(_ limits: StorageLimits?, _ time: StateUpkeep.Time) {
    let useDeadline = self.change { upkeep, released -> OperationSubscription? in
      released.append(upkeep.time)
      upkeep.time = time
      guard upkeep.limits != limits else { return nil }
      upkeep.limits = limits
      upkeep.isSweepDue = true
      guard limits == nil else { return nil }
      upkeep.index = nil
      upkeep.uses = [:]
      upkeep.areUsesDue = false
      return upkeep.useDeadline.clear()
    }
    useDeadline?.cancel()
  }

  /// Notes how old values with a name may become, and begins to remove those that are older.
  func setMaximumAge(_ age: Int64, ofValue key: String, _ time: @autoclosure () -> StateUpkeep.Time) {
    guard let name = StorageKey.escapedName(ofValue: key).map(String.init),
      // The longest age of a name counts for values that do not say which is theirs.
      self.state.withLock({ $0.upkeep.ages[name] ?? -1 }) < age
    else { return }
    let time = time()
    self.change { upkeep, released in
      released.append(upkeep.time)
      upkeep.time = time
      upkeep.ages[name] = max(upkeep.ages[name] ?? 0, age)
      upkeep.isSweepDue = true
    }
  }

  /// Notes that the stored value with a key was used.
  func noteUse(of key: String) {
    let time = self.state.withLock { $0.upkeep.limits == nil ? nil : $0.upkeep.time }
    guard let time, let now = time.now else { return }
    let number = self.state.withLock { state -> UInt64? in
      guard state.upkeep.noteUse(of: key, at: now), !state.upkeep.useDeadline.isTaken else { return nil }
      return state.upkeep.useDeadline.reserve()
    }
    guard let number else { return }
    let deadline = time.deadlines.schedule(after: Self.useDelay) { [weak self] in
      let deadline = self?.change { upkeep, _ -> OperationSubscription? in
        guard upkeep.useDeadline.isCurrent(number) else { return nil }
        upkeep.areUsesDue = !upkeep.uses.isEmpty
        return upkeep.useDeadline.clear()
      }
      deadline?.cancel()
    }
    self.state.withLock { $0.upkeep.useDeadline.keep(deadline, number: number) }?.cancel()
  }

  /// Why the value with a key is not stored; nil if it is, or if that is not known.
  func reasonForNotStoring(_ key: String) -> String? { self.state.withLock { $0.upkeep.unstored.reason(for: key) } }

  /// Changes what the upkeep has to do, and begins to do it.
  func change<R>(_ body: (inout StateUpkeep, inout ReleasedValues) -> R) -> R {
    let (result, starts) = self.state.withLock { state, released -> (R, Bool) in
      let result = body(&state.upkeep, &released)
      guard state.upkeep.isDue, !state.isWriting else { return (result, false) }
      state.isWriting = true
      return (result, true)
    }
    if starts { Task(name: "keep up values", priority: .utility) { await self.write() } }
    return result
  }

  /// Waits until nothing is to be done that needs no deadline.
  func settled() async {
    let waiter = AwaitedOutcome<Void>()
    let isIdle = self.state.withLock { state in
      guard state.isWriting else { return true }
      state.upkeep.idleWaiters.append(waiter)
      return false
    }
    if !isIdle { await waiter.value() }
  }
}

extension StateUpkeep {
  /// Whether there is something to do now.
  var isDue: Bool { self.areUsesDue || self.isSweepDue || self.sweep != nil }
}

// MARK: - Limits

extension StateWriter {
  /// Removes values that were not used for long, so that a batch is within the limits.
  func makeRoom(for batch: StateBatch) async {
    let surplus = self.state.withLock { state -> [String] in
      guard let limits = state.upkeep.limits, state.upkeep.index != nil else { return [] }
      var added: [String: Int] = [:]
      for change in batch.changes where change.isOfValue {
        if case .put(let key, let bytes) = change.value { added[key] = bytes.count }
      }
      return state.upkeep.index?.surplus(beyond: limits, adding: added) ?? []
    }
    await self.evict(surplus)
  }

  /// Removes values that are beyond the limits.
  func trim() async {
    let surplus = self.state.withLock { state -> [String] in
      guard let limits = state.upkeep.limits else { return [] }
      return state.upkeep.index?.surplus(beyond: limits) ?? []
    }
    await self.evict(surplus)
  }

  private func evict(_ keys: [String]) async {
    for start in stride(from: 0, to: keys.count, by: 4_096) {
      let part = keys[start..<min(start + 4_096, keys.count)]
      do {
        // Of a later era, which the next write finds, are values that are not known here.
        guard case .made = try await self.applyInEra(part.flatMap(Self.removal)) else { return }
      } catch {
        return OperationWarning.report(storageFailedTo: "remove \(part.count) values that exceed its limits", error)
      }
      self.state.withLock { state in
        let reason = "removed, because the limit of the storage is reached and others are used"
        state.upkeep.didRemove(part, because: reason)
        state.upkeep.evictionCount += part.count
        for key in part { state.cache.touch(key) }
      }
    }
  }

  /// The removal of a value and its record. It need not survive a crash of the system.
  static func removal(of key: String) -> [StorageChange] {
    [.remove(key: key), .remove(key: StorageKey.use(ofValue: key))]
  }

  /// Writes when values were used, at most so many.
  func writeUses() async {
    let (changes, flushes) = self.state.withLock { state -> ([StorageChange], [StateFlush]) in
      let changes = state.upkeep.takeUses(Self.maximumUses)
      return (changes, changes.isEmpty ? state.takeSettledFlushes() : [])
    }
    for flush in flushes { flush.outcome.decide(flush.isComplete) }
    guard !changes.isEmpty else { return }
    do {
      try await self.make(changes)
    } catch is StorageEraHasEnded {
      await self.followEra()
    } catch {
      // The next uses are written again; only the order of removals depends on these.
      self.report(error, in: "note when \(changes.count) values were used")
    }
    let settled = self.state.withLock { $0.takeSettledFlushes() }
    for flush in settled { flush.outcome.decide(flush.isComplete) }
  }
}
