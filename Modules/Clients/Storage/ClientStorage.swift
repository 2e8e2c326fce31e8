internal import Synchronization

/// The storage of an ``OperationClient``: its stores by path, their watchers, and the cache that evicts idle stores.
///
/// The cache and the watchers receive changes outside the lock, one at a time and in order.
@usableFromInline
final class ClientStorage: Sendable {
  /// An event that waits until earlier events have been delivered.
  enum QueuedEvent: Sendable {
    /// For the watchers.
    case change(ClientChange)
    /// For the cache: a store became idle.
    case idle(StoreEntry)
    /// For the cache: a store is in use again or was removed.
    case active(StoreEntry)
    /// Goes on with the next store of a path, after the removal of one.
    case attachment(@Sendable () -> Void)
  }

  struct State: Sendable {
    var entries = PathTrie<StoreEntry>()
    var watchers: [UInt64: StoreWatcher] = [:]
    var lastWatcherID: UInt64 = 0
    var queuedEvents = SerialQueue<QueuedEvent>()
    /// Entries added by ``ClientStorage/apply(removed:added:)``. Their stores may be in use and need an idleness check.
    var addedEntries: [StoreEntry] = []
    /// The stores that ``ClientStorage/apply(removed:added:)`` has removed, which are yet to be notified.
    var removals: [Removal] = []
    /// The stores that it has added, which are yet to be notified.
    var additions: [StoreRuntime] = []
    /// The stores that it was to add, and that are over.
    var refusals: [StoreRuntime] = []
    /// The clearing of everything that is under way.
    var clearing: ClientClearing?
    /// The number of clearings that have begun.
    var clearingCount = 0
    /// The removed stores that have had runs since, while these exist. They end when everything is cleared.
    var removed: [ObjectIdentifier: RemovedStore] = [:]
    /// The number of removals whose stores are being notified.
    var removalsUnderWay = 0
    /// What goes on with the next stores when these removals have ended.
    var attachments: [@Sendable () -> Void] = []
    /// The weak reference to this object that the entries share; nil until the first entry.
    var client: StoreEntryClient?
  }

  /// A removed store with runs, which retain it.
  struct RemovedStore: Sendable {
    weak let runtime: StoreRuntime?
  }

  /// A store that was removed.
  struct Removal: Sendable {
    let runtime: StoreRuntime
    let kind: StoreEvent.Removal
    /// What has removed it; nil if nothing observed that.
    let cause: OperationRunCause?
  }

  let state = Locked(State())
  let cache: any OperationClient.StoreCache
  let observers = ClientObservers()

  init(cache: any OperationClient.StoreCache) {
    self.cache = cache
  }

  deinit {
    // Entries and runtimes refer to each other, and a cache shared with other clients may refer to an entry.
    var stores: [(any AnyObject & Sendable)?] = []
    let entries = self.state.withLock { $0.entries.removeAll() }
    entries.forEach(matching: []) { stores.append($0.end()) }
    entries.forEach(matching: []) { self.observers.storeWasRemoved($0.runtime, .released, by: nil) }
  }
}

// MARK: - Searching

extension ClientStorage {
  /// Runs `body` under the lock with the node at a path, or nil if the path has no node.
  ///
  /// Elements of user types are hashed and compared with the lock held: see ``OperationPath``.
  func withNode<R>(
    at path: OperationPath,
    _ body: (inout State, PathIndex.NodeID?, inout ReleasedValues) -> R
  ) -> R {
    self.state.withLock { state, released in body(&state, state.entries.index.node(at: path), &released) }
  }
}

// MARK: - Looking up

extension ClientStorage {
  /// Returns the store at a path. The client keeps an evicted store that still exists from now on.
  func store(at path: OperationPath) -> StoreHandle? {
    let (store, recovered) = self.withNode(at: path) { state, node, _ in self.take(node, from: &state) }
    if let recovered { self.updateIdleness(of: recovered) }
    return store
  }

  /// Returns the store that ``store(at:)`` finds, without its runtime, for callers that know its type.
  @usableFromInline
  func object(at path: OperationPath) -> (any AnyObject & Sendable)? {
    let (isInClient, store) = self.withNode(at: path) { state, node, _ -> (Bool, (any AnyObject & Sendable)?) in
      guard let node, let entry = state.entries[node: node] else { return (true, nil) }
      return (entry.store != nil, entry.store)
    }
    return isInClient ? store : self.store(at: path)?.store
  }

  /// Returns the store at a node, and its entry if the client keeps an evicted store again from now on.
  private func take(_ node: PathIndex.NodeID?, from state: inout State) -> (store: StoreHandle?, recovered: StoreEntry?)
  {
    guard let node, let entry = state.entries[node: node] else { return (nil, nil) }
    if let store = entry.store { return (StoreHandle(runtime: entry.runtime, store: store), nil) }
    guard let store = entry.runtime.store else { return (nil, nil) }
    entry.store = store
    return (StoreHandle(runtime: entry.runtime, store: store), entry)
  }

  /// Returns the runtimes of the stores at paths that start with the given one.
  func runtimes(matching path: OperationPath) -> [StoreRuntime] {
    self.withNode(at: path) { state, node, _ in
      var runtimes: [StoreRuntime] = []
      if let node { state.entries.forEach(within: node) { runtimes.append($0.runtime) } }
      return runtimes
    }
  }

  /// Returns the stores at paths that start with the given one.
  @usableFromInline
  func stores(matching path: OperationPath) -> PathTrie<StoreHandle> {
    self.withNode(at: path) { state, node, _ in
      guard let node else { return PathTrie() }
      // Retained under the lock, evicted stores too: a store that is found cannot be removed meanwhile.
      return state.entries.compactMap(within: node) { entry in
        (entry.store ?? entry.runtime.store).map { StoreHandle(runtime: entry.runtime, store: $0) }
      }
    }
  }
}

// MARK: - Changing

extension ClientStorage {
  /// Inserts a store unless its path already has one.
  ///
  /// - Parameters:
  ///   - new: The store.
  ///   - isIdle: True if the store cannot be in use yet.
  /// - Returns: The store that is now at the path.
  @usableFromInline
  func insertIfAbsent(_ new: StoreHandle, isIdle: Bool) -> StoreHandle {
    let insertion = self.withNode(at: new.runtime.path) { state, node, released in
      self.insertIfAbsent(new, at: node, isIdle: isIdle, in: &state, &released)
    }
    switch insertion {
    case .existing(let store, let recovered):
      new.runtime.wasRefusedByClient()
      if let recovered { self.updateIdleness(of: recovered) }
      return store
    case .queued(let unchecked, let hasQueuedEvents):
      self.observers.storeWasTaken(new.runtime)
      if hasQueuedEvents { self.deliver() }
      if let unchecked { self.updateIdleness(of: unchecked) }
    case .immediate(let entry):
      self.observers.storeWasTaken(new.runtime)
      self.cache.storeDidBecomeIdle(entry.idleStore)
      self.deliverRest()
    }
    return new
  }

  private enum Insertion {
    /// The path has a store. `recovered` is its entry if the client keeps an evicted store again from now on.
    case existing(StoreHandle, recovered: StoreEntry?)
    /// Inserted. The caller delivers the queued events, if there are any.
    ///
    /// `unchecked` is the entry if the store may be in use: the caller then checks whether it is idle.
    case queued(unchecked: StoreEntry?, hasQueuedEvents: Bool)
    /// Inserted without watchers or earlier events: the caller notifies the cache directly.
    case immediate(StoreEntry)
  }

  private func insertIfAbsent(
    _ new: StoreHandle,
    at node: PathIndex.NodeID?,
    isIdle: Bool,
    in state: inout State,
    _ released: inout ReleasedValues
  ) -> Insertion {
    let (present, recovered) = self.take(node, from: &state)
    if let present { return .existing(present, recovered: recovered) }
    let entry = self.makeEntry(of: new, isIdle: isIdle, in: &state)
    // The entry of a deallocated store may still be at the path.
    let replaced = state.entries.updateValue(entry, at: new.runtime.path)
    guard isIdle, state.watchers.isEmpty, state.queuedEvents.beginDirectly() else {
      self.queue(insertionOf: entry, new, replacing: replaced, in: &state, &released)
      return .queued(unchecked: isIdle ? nil : entry, hasQueuedEvents: !state.queuedEvents.isEmpty)
    }
    if let replaced { released.append(self.end(replaced, isOver: true, in: &state, &released)) }
    return .immediate(entry)
  }

  /// Removes and inserts stores in one step. The caller delivers the changes by ``notifyOfChanges()``.
  ///
  /// - Parameters:
  ///   - removed: The stores to remove. A store is skipped if its path now has another one.
  ///   - added: The stores to insert. They replace the stores at their paths.
  func apply(removed: [StoreHandle], added: [StoreHandle]) {
    let cause = self.causeOfRemoval
    // A store that is put again at its path stays in the client.
    let new = added.filter { !$0.runtime.isKeptByClient && !$0.runtime.isOver }
    let replacedPaths = Set(added.map(\.runtime.path))
    self.state.withLock { state, released in
      self.remove(removed, replacedAt: replacedPaths, because: cause, in: &state, &released)
      let (over, added) = (added.filter(\.runtime.isOver), added.filter { !$0.runtime.isOver })
      state.refusals += over.map(\.runtime)
      for store in added {
        let entry = self.makeEntry(of: store, isIdle: false, in: &state)
        let replaced = state.entries.updateValue(entry, at: store.runtime.path)
        if let replaced, replaced.runtime !== store.runtime {
          state.removals.append(Removal(runtime: replaced.runtime, kind: .replaced, cause: .replacement))
        }
        self.queue(insertionOf: entry, store, replacing: replaced, in: &state, &released)
        state.addedEntries.append(entry)
      }
      state.additions += new.map(\.runtime)
    }
  }

  private func remove(
    _ stores: [StoreHandle],
    replacedAt paths: Set<OperationPath>,
    because cause: OperationRunCause?,
    in state: inout State,
    _ released: inout ReleasedValues
  ) {
    var change = ClientChange()
    for store in stores {
      guard let node = state.entries.index.node(at: store.runtime.path), let entry = state.entries[node: node],
        entry.runtime === store.runtime
      else { continue }
      self.remove(at: node, from: &state, &released)
      let kind: StoreEvent.Removal = paths.contains(entry.runtime.path) ? .replaced : .cleared
      state.removals.append(Removal(runtime: entry.runtime, kind: kind, cause: cause))
      if let store = self.end(entry, isOver: true, in: &state, &released) { change.removed.append(store) }
    }
    self.queue(change, in: &state, &released)
  }

  /// Delivers the changes of ``apply(removed:added:)``, notifies the subscribers of the removed stores, and checks
  /// whether the added stores are idle.
  func notifyOfChanges() {
    let (addedEntries, removals, additions, refusals) = self.state.withLock { state in
      defer { (state.addedEntries, state.removals, state.additions, state.refusals) = ([], [], [], []) }
      return (state.addedEntries, state.removals, state.additions, state.refusals)
    }
    for runtime in refusals { runtime.reportIsOver() }
    self.notify(of: removals)
    for runtime in additions { self.observers.storeWasTaken(runtime) }
    self.deliver()
    for entry in addedEntries { self.updateIdleness(of: entry) }
  }

  /// Notifies the subscribers and the observers of stores that were removed in one step.
  ///
  /// What follows the next stores at their paths goes on when all of them were notified.
  private func notify(of removals: [Removal]) {
    for removal in removals { removal.runtime.noteRunAfterRemoval() }
    guard removals.contains(where: { $0.runtime.hasDependents }) else {
      for removal in removals { self.observers.storeWasRemoved(removal.runtime, removal.kind, by: removal.cause) }
      return
    }
    self.state.withLock { $0.removalsUnderWay += 1 }
    for removal in removals {
      removal.runtime.wasRemovedFromClient()
      self.observers.storeWasRemoved(removal.runtime, removal.kind, by: removal.cause)
    }
    self.state.withLock { state in
      state.removalsUnderWay -= 1
      state.releaseAttachments()
    }
  }

  /// The code that removes stores, as a cause; nil while nothing observes their membership.
  private var causeOfRemoval: OperationRunCause? { self.observers.receives(.membership) ? .ofCurrentCode() : nil }

  /// Removes the stores at paths that start with the given one.
  ///
  /// - Parameters:
  ///   - path: The prefix.
  ///   - prepare: Called with the stores when they are over, before their subscribers are notified.
  func removeAll(matching path: OperationPath, _ prepare: ([StoreRuntime]) -> Void = { _ in }) {
    let cause = self.causeOfRemoval
    let runtimes = self.withNode(at: path) { state, node, released -> [StoreRuntime] in
      guard let node else { return [] }
      var freed: [OperationPath.Element] = []
      let removed = state.entries.removeAll(within: node, freed: &freed)
      released.append(freed)
      released.append(removed)
      var change = ClientChange()
      var runtimes: [StoreRuntime] = []
      removed.forEach(matching: []) { entry in
        runtimes.append(entry.runtime)
        if let store = self.end(entry, isOver: true, in: &state, &released) { change.removed.append(store) }
      }
      self.queue(change, in: &state, &released)
      return runtimes
    }
    prepare(runtimes)
    self.notify(of: runtimes.map { Removal(runtime: $0, kind: .cleared, cause: cause) })
    self.deliver()
  }

  /// Removes the store at exactly this path, and returns it.
  func remove(at path: OperationPath) -> StoreHandle? {
    let cause = self.causeOfRemoval
    let (removed, runtime) = self.withNode(at: path) { state, node, released -> (StoreHandle?, StoreRuntime?) in
      guard let node, let entry = state.entries[node: node] else { return (nil, nil) }
      self.remove(at: node, from: &state, &released)
      let removed = self.end(entry, isOver: true, in: &state, &released)
      if let removed { self.queue(ClientChange(removed: [removed]), in: &state, &released) }
      return (removed, entry.runtime)
    }
    if let runtime { self.notify(of: [Removal(runtime: runtime, kind: .cleared, cause: cause)]) }
    self.deliver()
    return removed
  }
}
