internal import OperationCore

/// Writes the changed values of stores to one storage, a moment after each has changed.
///
/// All stores that use a storage share its writer, so that a store finds a value that was not written yet. The newest
/// value of each store is written, in the order of the changes, in batches. Changes that come while a batch is being
/// written are in the next one.
final class StateWriter: Sendable {
  /// A value to store, or the removal of the stored one.
  struct Content: Sendable {
    /// Encodes the value; nil to remove the stored one.
    let encode: (@Sendable () throws -> [UInt8])?
    /// The deadlines that are used when writing has failed and is tried again.
    let deadlines: any DeadlineSource
  }

  struct Item: Sendable {
    var content: Content
    /// The number of the newest change.
    var number: UInt64
    /// The number of the oldest change that has not been written.
    var oldest: UInt64
    /// Whether its deadline has passed.
    var isDue = false
    var deadline = SubscriptionSlot()
  }

  struct State: Sendable {
    var lastNumber: UInt64 = 0
    /// Changes up to this number are due at once, because of a flush.
    var flushedNumber: UInt64 = 0
    var pending: [String: Item] = [:]
    var writing: [String: Item] = [:]
    var isWriting = false
    var failureCount = 0
    var waiters: [StateFlush] = []
    var cache = RestoredEntries()
    /// Closures that hand over the changes of stores whose stored values are still being read.
    var restoringStores: [ObjectIdentifier: @Sendable () -> Void] = [:]
  }

  let storage: any PersistentStorage
  let state = Locked(State())

  init(storage: any PersistentStorage) {
    self.storage = storage
  }
}

// MARK: - Changes

extension StateWriter {
  /// Adds a value to those that are written later. ``schedule(_:after:on:)`` sets the time.
  ///
  /// - Returns: The content that it replaces, for callers that hold a lock and must not release it there.
  func put(_ content: Content, for key: String) -> Content? {
    self.state.withLock { state in
      state.lastNumber += 1
      state.cache.touch(key)
      guard var item = state.pending[key] else {
        state.pending[key] = Item(content: content, number: state.lastNumber, oldest: state.lastNumber)
        return nil
      }
      let replaced = item.content
      item.content = content
      item.number = state.lastNumber
      state.pending[key] = item
      return replaced
    }
  }

  /// Adds a value as ``put(_:for:)`` does, unless another one waits to be written. Returns whether it was added.
  func putIfAbsent(_ content: Content, for key: String) -> Bool {
    self.state.withLock { state in
      guard state.pending[key] == nil else { return false }
      state.lastNumber += 1
      state.cache.touch(key)
      state.pending[key] = Item(content: content, number: state.lastNumber, oldest: state.lastNumber)
      return true
    }
  }

  /// Schedules the value with a key to be written when `delay` has passed.
  func schedule(_ key: String, after delay: Duration, on deadlines: any DeadlineSource) {
    let number = self.state.withLock { state -> UInt64? in
      guard let item = state.pending[key], !state.isDue(item), !item.deadline.isTaken else { return nil }
      return state.pending[key]?.deadline.reserve()
    }
    guard let number else { return }
    let deadline = deadlines.schedule(after: delay) { self.deadlineHasPassed(of: key, number) }
    let surplus = self.state.withLock { state in
      state.pending[key] == nil ? deadline : state.pending[key]?.deadline.keep(deadline, number: number)
    }
    surplus?.cancel()
  }

  private func deadlineHasPassed(of key: String, _ number: UInt64) {
    let (deadline, starts) = self.state.withLock { state -> (OperationSubscription?, Bool) in
      guard state.pending[key]?.deadline.isCurrent(number) == true else { return (nil, false) }
      state.pending[key]?.isDue = true
      let deadline = state.pending[key]?.deadline.clear()
      defer { state.isWriting = true }
      return (deadline, !state.isWriting)
    }
    deadline?.cancel()
    if starts { Task.detached(name: "write values") { await self.write() } }
  }

  /// Writes all values that wait, without waiting for their deadlines.
  ///
  /// - Returns: Whether they were written.
  func flush() async -> Bool {
    for handOver in self.state.withLock({ Array($0.restoringStores.values) }) { handOver() }
    let flush = StateFlush()
    let (isNeeded, starts) = self.state.withLock { state -> (Bool, Bool) in
      state.flushedNumber = state.lastNumber
      guard !state.pending.isEmpty || !state.writing.isEmpty else { return (false, false) }
      flush.number = state.lastNumber
      state.waiters.append(flush)
      defer { state.isWriting = true }
      return (true, !state.isWriting)
    }
    guard isNeeded else { return true }
    // Not detached, so that warnings go to the reporter of the caller.
    if starts { Task(name: "write values") { await self.write() } }
    return await flush.wait()
  }
}

// MARK: - Writing

extension StateWriter {
  private static let maximumBatch = 4_096
  /// The number of values that one task encodes.
  private static let maximumPart = 512

  private func write() async {
    var next = await self.prepareBatch(endsWriting: true)
    while let batch = next {
      // When a batch is full, further values are due: they are encoded while this batch is being written.
      async let following = batch.items.count < Self.maximumBatch ? nil : self.prepareBatch(endsWriting: false)
      do {
        if !batch.changes.isEmpty { try await self.storage.apply(batch.changes) }
        self.settle(batch.items)
        next = await following
      } catch {
        OperationWarning.report(storageFailedTo: "write \(batch.changes.count) values. They are written later", error)
        // The newer batch first: its values replace older ones with the same keys.
        self.postpone((await following?.items ?? []) + batch.items)
        next = nil
      }
      if next == nil { next = await self.prepareBatch(endsWriting: true) }
    }
  }

  /// Values that are being written, in the order in which they changed, and the changes of the storage.
  private struct Batch: Sendable {
    let items: [(key: String, item: Item)]
    let changes: [StorageChange]
  }

  private func prepareBatch(endsWriting: Bool) async -> Batch? {
    guard let items = self.nextBatch(endsWriting: endsWriting) else { return nil }
    return Batch(items: items, changes: await Self.changes(of: items))
  }

  /// Encodes the values of a batch; the parts of a large one concurrently.
  private static func changes(of batch: [(key: String, item: Item)]) async -> [StorageChange] {
    guard batch.count > self.maximumPart else { return self.encode(batch[...]) }
    let starts = Array(stride(from: 0, to: batch.count, by: self.maximumPart))
    return await withTaskGroup { group in
      for start in starts {
        group.addTask { (start, self.encode(batch[start..<min(start + self.maximumPart, batch.count)])) }
      }
      var parts: [Int: [StorageChange]] = [:]
      for await (start, changes) in group { parts[start] = changes }
      return starts.flatMap { parts[$0] ?? [] }
    }
  }

  private static func encode(_ items: ArraySlice<(key: String, item: Item)>) -> [StorageChange] {
    var changes: [StorageChange] = []
    changes.reserveCapacity(items.count)
    for (key, item) in items {
      guard let encode = item.content.encode else {
        changes.append(.remove(key: key))
        continue
      }
      do {
        changes.append(.put(key: key, value: try encode()))
      } catch {
        OperationWarning(
          code: .valueNotEncoded,
          message: "The value with the key \(key) cannot be encoded, so it is not stored: \(error)"
        ).report()
      }
    }
    return changes
  }

  /// Takes the values that are due.
  ///
  /// - Parameter endsWriting: Whether writing ends if there are none.
  /// - Returns: The values with their keys, in the order in which they changed, at most `maximumBatch` of them; nil if
  ///   none is due.
  private func nextBatch(endsWriting: Bool) -> [(key: String, item: Item)]? {
    var deadlines: [OperationSubscription] = []
    defer { for deadline in deadlines { deadline.cancel() } }
    return self.state.withLock { state -> [(key: String, item: Item)]? in
      // The items are large, so their keys are sorted without them.
      var due: [(number: UInt64, key: String)] = []
      due.reserveCapacity(state.pending.count)
      for (key, item) in state.pending where state.isDue(item) { due.append((item.number, key)) }
      if due.isEmpty {
        if endsWriting { state.isWriting = false }
        return nil
      }
      due.sort { $0.number < $1.number }
      if due.count > Self.maximumBatch { due.removeLast(due.count - Self.maximumBatch) }
      var batch: [(key: String, item: Item)] = []
      batch.reserveCapacity(due.count)
      state.writing.reserveCapacity(due.count)
      for (_, key) in due {
        guard var item = state.pending.removeValue(forKey: key) else { continue }
        if let deadline = item.deadline.clear() { deadlines.append(deadline) }
        state.writing[key] = item
        batch.append((key, item))
      }
      return batch
    }
  }

  private func settle(_ batch: [(key: String, item: Item)]) {
    let flushes = self.state.withLock { state in
      // The batch of the caller keeps the contents alive, so that none is released under the lock.
      for (key, item) in batch where state.writing[key]?.number == item.number { state.writing[key] = nil }
      state.failureCount = 0
      return state.takeSettledFlushes()
    }
    for flush in flushes { flush.end(true) }
  }

  /// Puts the values of a failed batch back, except for those that have changed since, and tries again later.
  private func postpone(_ batch: [(key: String, item: Item)]) {
    let (flushes, unscheduled, delay) = self.state.withLock { state -> ([StateFlush], [String: Item], Duration) in
      for (key, item) in batch {
        if state.pending[key] != nil {
          state.pending[key]?.oldest = item.oldest
        } else {
          var item = item
          item.isDue = false
          state.pending[key] = item
        }
      }
      // The waiting flushes fail, too: the values that they made due wait for their deadlines again.
      for key in state.pending.keys { state.pending[key]?.isDue = false }
      state.flushedNumber = 0
      state.writing = [:]
      state.failureCount += 1
      defer { state.waiters = [] }
      let unscheduled = state.pending.filter { !$0.value.deadline.isTaken }
      return (state.waiters, unscheduled, .seconds(1 << min(state.failureCount, 6)))
    }
    for flush in flushes { flush.end(false) }
    for (key, item) in unscheduled { self.schedule(key, after: delay, on: item.content.deadlines) }
  }
}

extension StateWriter.State {
  /// Whether an item is written in the next batch.
  func isDue(_ item: StateWriter.Item) -> Bool {
    item.isDue || item.oldest <= self.flushedNumber
  }

  /// Removes and returns the flushes whose values have all been written.
  fileprivate mutating func takeSettledFlushes() -> [StateFlush] {
    guard !self.waiters.isEmpty else { return [] }
    let oldest = [self.pending, self.writing].lazy.flatMap(\.values).reduce(UInt64.max) { min($0, $1.oldest) }
    let settled = self.waiters.filter { $0.number < oldest }
    self.waiters.removeAll { $0.number < oldest }
    return settled
  }
}
