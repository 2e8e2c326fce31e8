internal import OperationCore
internal import Synchronization

/// Writes the changed values of stores to one storage, a moment after each has changed.
///
/// All stores that use a storage share its writer, so that a store finds a value that was not written yet. The newest
/// value of each store is written, in the order of the changes, in batches. Changes that come while a batch is being
/// written are in the next one.
final class StateWriter: Sendable {
  /// A value to store, or the removal of the stored one.
  struct Content: Sendable {
    /// Encodes the value; nil to remove the stored one.
    var encode: (@Sendable () throws -> [UInt8])?
    /// The path of the operation and the name of its value, for warnings.
    let path: OperationPath
    let name: String
    /// The deadlines that are used when writing has failed and is tried again.
    let deadlines: any DeadlineSource
    /// When the value was set, and how old it may become, in seconds.
    var dated: Int64?
    var maximumAge: Int64?
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
    /// Changes up to this number were dropped, because another process has removed all values.
    var droppedNumber: UInt64 = 0
    var pending: [String: Item] = [:]
    var writing: [String: Item] = [:]
    var isWriting = false
    var failureCount = 0
    var waiters: [StateFlush] = []
    /// The removals of values at many paths that are not made yet, in order.
    var removals: [StateRemoval] = []
    var cache = RestoredEntries()
    var recentChanges = RecentChanges()
    /// The stores whose stored values are still being read.
    var restoringStores: [ObjectIdentifier: RestoringStore] = [:]
    var upkeep = StateUpkeep()
    var invalidations = StoredInvalidations()
    /// The era that the storage had when it was read first, or since; nil before.
    var era: StorageEra?
    /// Whether a run has waited for the era as long as it may.
    var eraIsLate = false
    /// The clients that keep values in the storage.
    var clients: [WriterClient] = []
    /// The deadlines that are used when invalidations could not be written; nil for the usual ones.
    var retryDeadlines: (any DeadlineSource)?
    /// Those who wait for the invalidations while they are read; nil while they are not read.
    var loadingWaiters: [AwaitedOutcome<Void>]?
  }

  let storage: any PersistentStorage
  /// Whether other processes may write to the storage.
  let isShared: Bool
  let state = Mutex(State())

  init(storage: any PersistentStorage) {
    self.storage = storage
    self.isShared = storage.sharedLeases != nil
  }
}

// MARK: - Changes

extension StateWriter {
  /// Adds a value to those that are written later. ``schedule(_:after:on:)`` sets the time.
  ///
  /// - Returns: The content that it replaces, for callers that hold a lock and must not release it there.
  func put(_ content: Content, for key: String) -> Content? {
    self.state.withLock { $0.put(content, for: key) }
  }

  /// Adds a value as ``put(_:for:)`` does, unless the value was changed after the change with a number.
  ///
  /// - Returns: Whether it was added.
  func put(_ content: Content, for key: String, ifUnchangedSince number: UInt64) -> Bool {
    self.state.withLock { state, released in
      guard state.pending[key] == nil, state.writing[key] == nil, !state.recentChanges.contains(key, after: number)
      else { return false }
      released.append(state.put(content, for: key))
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
  func writeAll() async -> Bool {
    for store in self.state.withLock({ Array($0.restoringStores.values) }) { store.owner.handOver() }
    let flush = StateFlush()
    let (isNeeded, starts) = self.state.withLock { state -> (Bool, Bool) in
      state.flushedNumber = state.lastNumber
      // Which values are removed first after the next start depends on them.
      if !state.upkeep.uses.isEmpty { state.upkeep.areUsesDue = true }
      guard !state.pending.isEmpty || !state.writing.isEmpty || state.upkeep.areUsesDue else { return (false, false) }
      flush.number = state.lastNumber
      state.waiters.append(flush)
      defer { state.isWriting = true }
      return (true, !state.isWriting)
    }
    guard isNeeded else { return true }
    // Not detached, so that warnings go to the reporter of the caller.
    if starts { Task(name: "write values") { await self.write() } }
    return await flush.outcome.value(cancelled: false)
  }
}

extension StateWriter.State {
  /// Adds a value to those that are written later, and returns the content that it replaces.
  mutating func put(_ content: StateWriter.Content, for key: String) -> StateWriter.Content? {
    self.lastNumber += 1
    if self.invalidations.hasNoValues, content.encode != nil { self.invalidations.hasNoValues = false }
    self.cache.touch(key)
    self.recentChanges.note(key, number: self.lastNumber)
    guard var item = self.pending[key] else {
      self.pending[key] = StateWriter.Item(content: content, number: self.lastNumber, oldest: self.lastNumber)
      return nil
    }
    let replaced = item.content
    item.content = content
    item.number = self.lastNumber
    self.pending[key] = item
    return replaced
  }

  /// Whether an item is written in the next batch.
  func isDue(_ item: StateWriter.Item) -> Bool {
    item.isDue || item.oldest <= self.flushedNumber
  }

  /// Whether the change with a number is to be removed.
  func isRemoved(_ key: String, number: UInt64) -> Bool {
    self.removals.contains { $0.number > number && key.hasPrefix($0.prefix) }
  }

  /// Removes and returns the flushes whose values have all been written or left out.
  mutating func takeSettledFlushes() -> [StateFlush] {
    guard !self.waiters.isEmpty, !self.upkeep.areUsesDue else { return [] }
    let oldest = [self.pending, self.writing].lazy.flatMap(\.values).reduce(UInt64.max) { min($0, $1.oldest) }
    let settled = self.waiters.filter { $0.number < oldest }
    self.waiters.removeAll { $0.number < oldest }
    return settled
  }
}
