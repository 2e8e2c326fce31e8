internal import OperationCore
internal import Synchronization

extension StateWriter {
  private static let maximumBatch = 4_096
  /// The number of values that one task encodes.
  private static let maximumPart = 512

  /// Makes the removals and writes the values that are due, until there are none.
  func write() async {
    while let step = self.nextStep() {
      switch step {
      case .remove(let removal): await self.perform(removal)
      case .write(let items): await self.write(items)
      case .writeUses: await self.writeUses()
      case .beginSweep: await self.beginSweep()
      case .continueSweep: await self.continueSweep()
      }
    }
  }

  /// Writes values, and those that become due meanwhile if the batch is full.
  private func write(_ items: [BatchItem]) async {
    var next: StateBatch? = await self.prepare(items)
    while let batch = next {
      // When a batch is full, further values are due: they are encoded while this batch is being written.
      async let following = batch.items.count < Self.maximumBatch ? nil : self.prepareFollowing()
      let result = await self.apply(batch)
      self.settle(result)
      if result.isStorageDown {
        // The newer batch first: its values replace older ones with the same keys.
        self.postpone((await following?.items ?? []) + result.postponed)
        next = nil
      } else if result.isOfFormerEra {
        next = await following
        // What has changed since the others were dropped is of this era.
        if let batch = next, self.state.withLock({ batch.isChanged(upTo: $0.droppedNumber) }) {
          var rest = BatchResult()
          rest.leaveOut(batch.items)
          self.settle(rest)
          next = nil
        }
      } else {
        if !result.postponed.isEmpty { self.postpone(result.postponed) }
        next = await following
      }
    }
  }

  private func prepareFollowing() async -> StateBatch? {
    guard let items = self.state.withLock({ $0.removals.isEmpty }) ? self.nextItems() : nil else { return nil }
    return await self.prepare(items)
  }

  /// Encodes the values of a batch; the parts of a large one concurrently.
  private func prepare(_ items: [BatchItem]) async -> StateBatch {
    let (time, limits) = self.state.withLock { ($0.upkeep.time, $0.upkeep.limits) }
    let now = time?.now
    guard items.count > Self.maximumPart else { return StateBatch(items[...], limits: limits, now: now) }
    let starts = Array(stride(from: 0, to: items.count, by: Self.maximumPart))
    return await withTaskGroup { group in
      for start in starts {
        let part = items[start..<min(start + Self.maximumPart, items.count)]
        group.addTask { (start, StateBatch(part, limits: limits, now: now)) }
      }
      var parts: [Int: StateBatch] = [:]
      for await (start, part) in group { parts[start] = part }
      return starts.reduce(into: StateBatch([], limits: limits, now: now)) { $0.append(parts[$1]) }
    }
  }
}

// MARK: - Steps

extension StateWriter {
  fileprivate enum Step {
    case remove(StateRemoval)
    case write([BatchItem])
    case writeUses
    case beginSweep
    case continueSweep
  }

  /// The next step; nil if there is none, and then writing has ended.
  private func nextStep() -> Step? {
    while true {
      let (removal, lacksIndex) = self.state.withLock { ($0.removals.first, $0.upkeep.lacksIndex) }
      if let removal { return .remove(removal) }
      // Otherwise the first values would be written whatever the limits are.
      if lacksIndex { return .beginSweep }
      if let items = self.nextItems() { return .write(items) }
      let (upkeep, idle) = self.state.withLock { state -> (Step?, [AwaitedOutcome<Void>]?) in
        if let step = state.upkeep.nextStep { return (step, nil) }
        guard state.removals.isEmpty, !state.pending.values.contains(where: state.isDue) else { return (nil, nil) }
        state.isWriting = false
        defer { state.upkeep.idleWaiters = [] }
        return (nil, state.upkeep.idleWaiters)
      }
      if let upkeep { return upkeep }
      guard let idle else { continue }
      for waiter in idle { waiter.decide() }
      return nil
    }
  }

  /// Takes the values that are due, in the order in which they changed, at most `maximumBatch` of them.
  ///
  /// - Returns: The values; nil if none is due.
  private func nextItems() -> [BatchItem]? {
    var deadlines: [OperationSubscription] = []
    defer { for deadline in deadlines { deadline.cancel() } }
    return self.state.withLock { state -> [BatchItem]? in
      // The items are large, so their keys are sorted without them.
      var due: [(number: UInt64, key: String)] = []
      due.reserveCapacity(state.pending.count)
      for (key, item) in state.pending where state.isDue(item) { due.append((item.number, key)) }
      if due.isEmpty { return nil }
      due.sort { $0.number < $1.number }
      if due.count > Self.maximumBatch { due.removeLast(due.count - Self.maximumBatch) }
      var items: [BatchItem] = []
      items.reserveCapacity(due.count)
      state.writing.reserveCapacity(due.count)
      for (_, key) in due {
        guard var item = state.pending.removeValue(forKey: key) else { continue }
        if let deadline = item.deadline.clear() { deadlines.append(deadline) }
        state.writing[key] = item
        items.append(BatchItem(key: key, item: item))
      }
      return items
    }
  }

  /// Ends the flushes that wait for values which are written, or were left out.
  private func settle(_ result: BatchResult) {
    guard !result.settled.isEmpty else { return }
    let flushes = self.state.withLock { state in
      // The caller keeps the contents alive, so that none is released under the lock.
      for entry in result.settled { state.endWriting(entry) }
      for (entry, reason) in result.unstored { state.upkeep.unstored.note(entry.key, reason) }
      state.upkeep.rejectionCount += result.unstored.count
      for flush in state.waiters where result.unstored.contains(where: { $0.item.item.oldest <= flush.number }) {
        flush.isComplete = false
      }
      state.failureCount = 0
      return state.takeSettledFlushes()
    }
    for flush in flushes { flush.outcome.decide(flush.isComplete) }
  }

  /// Puts values back that could not be written, except for those that have changed since, and tries again later.
  private func postpone(_ items: [BatchItem]) {
    let (flushes, unscheduled, delay) = self.state.withLock { state -> ([StateFlush], [String: Item], Duration) in
      for entry in items { state.endWriting(entry) }
      for entry in items where !state.isRemoved(entry.key, number: entry.item.number) {
        if let newer = state.pending[entry.key] {
          state.pending[entry.key]?.oldest = min(newer.oldest, entry.item.oldest)
        } else if state.writing[entry.key] == nil {
          var item = entry.item
          item.isDue = false
          state.pending[entry.key] = item
        }
      }
      // The waiting flushes fail, too: the values that they made due wait for their deadlines again.
      for key in state.pending.keys { state.pending[key]?.isDue = false }
      state.flushedNumber = 0
      state.failureCount += 1
      defer { state.waiters = [] }
      let unscheduled = state.pending.filter { !$0.value.deadline.isTaken }
      return (state.waiters, unscheduled, .seconds(1 << min(state.failureCount, 6)))
    }
    for flush in flushes { flush.outcome.decide(false) }
    for (key, item) in unscheduled { self.schedule(key, after: delay, on: item.content.deadlines) }
  }
}

extension StateWriter.State {
  fileprivate mutating func endWriting(_ entry: BatchItem) {
    if self.writing[entry.key]?.number == entry.item.number { self.writing[entry.key] = nil }
  }
}

extension StateBatch {
  /// Whether values of the batch have changed with a number or before.
  fileprivate func isChanged(upTo number: UInt64) -> Bool { self.items.contains { $0.item.number <= number } }
}

extension StateUpkeep {
  /// What there is to do when no value is due.
  fileprivate var nextStep: StateWriter.Step? {
    if self.areUsesDue { return .writeUses }
    if self.isSweepDue { return .beginSweep }
    return self.sweep == nil ? nil : .continueSweep
  }
}
