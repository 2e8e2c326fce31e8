internal import OperationCore

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
      }
    }
  }

  /// Writes values, and those that become due meanwhile if the batch is full.
  private func write(_ items: [BatchItem]) async {
    var next: StateBatch? = await Self.prepare(items)
    while let batch = next {
      // When a batch is full, further values are due: they are encoded while this batch is being written.
      async let following = batch.items.count < Self.maximumBatch ? nil : self.prepareFollowing()
      let result = await self.apply(batch)
      self.settle(result.settled, unstored: result.unstored)
      if result.isStorageDown {
        // The newer batch first: its values replace older ones with the same keys.
        self.postpone((await following?.items ?? []) + result.postponed)
        next = nil
      } else {
        if !result.postponed.isEmpty { self.postpone(result.postponed) }
        next = await following
      }
    }
  }

  private func prepareFollowing() async -> StateBatch? {
    guard let items = self.state.withLock({ $0.removals.isEmpty }) ? self.nextItems() : nil else { return nil }
    return await Self.prepare(items)
  }

  /// Encodes the values of a batch; the parts of a large one concurrently.
  private static func prepare(_ items: [BatchItem]) async -> StateBatch {
    guard items.count > self.maximumPart else { return StateBatch(items[...]) }
    let starts = Array(stride(from: 0, to: items.count, by: self.maximumPart))
    return await withTaskGroup { group in
      for start in starts {
        group.addTask { (start, StateBatch(items[start..<min(start + self.maximumPart, items.count)])) }
      }
      var parts: [Int: StateBatch] = [:]
      for await (start, part) in group { parts[start] = part }
      return starts.reduce(into: StateBatch([])) { $0.append(parts[$1]) }
    }
  }
}

// MARK: - Steps

extension StateWriter {
  private enum Step {
    case remove(StateRemoval)
    case write([BatchItem])
  }

  /// The next step; nil if there is none, and then writing has ended.
  private func nextStep() -> Step? {
    while true {
      if let removal = self.state.withLock({ $0.removals.first }) { return .remove(removal) }
      if let items = self.nextItems() { return .write(items) }
      let hasEnded = self.state.withLock { state in
        guard state.removals.isEmpty, !state.pending.values.contains(where: state.isDue) else { return false }
        state.isWriting = false
        return true
      }
      if hasEnded { return nil }
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
  ///
  /// - Parameters:
  ///   - items: The values.
  ///   - unstored: Those of them that were left out.
  private func settle(_ items: [BatchItem], unstored: [BatchItem]) {
    guard !items.isEmpty else { return }
    let flushes = self.state.withLock { state in
      // The caller keeps the contents alive, so that none is released under the lock.
      for entry in items { state.endWriting(entry) }
      for flush in state.waiters where unstored.contains(where: { $0.item.oldest <= flush.number }) {
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
