internal import Synchronization

/// What works behind an ``OperationClient``: the stores by path, those who watch them, and the cache that lets them go.
///
/// The cache and the watchers are told of changes outside the lock, one at a time and in order.
@usableFromInline
final class ClientStorage: Sendable {
  private enum Note: Sendable {
    case change(StoreChange)
    case idle(StoreEntry)
    case active(StoreEntry)
  }

  private struct State: Sendable {
    var entries = PathTrie<StoreEntry>()
    var watchers: [UInt64: StoreWatcher] = [:]
    var lastWatcherID: UInt64 = 0
    var notes: [Note] = []
    /// What was taken out, and is let go of after the lock.
    var gone: [StoreEntry] = []
    /// Stores that came from outside, where they need not be idle.
    var newcomers: [StoreEntry] = []
    var isDelivering = false
    /// How the entries refer to this object, once there are any.
    var client: StoreEntryClient?
  }

  private let state = Mutex(State())
  private let cache: any OperationClient.StoreCache

  init(cache: any OperationClient.StoreCache) {
    self.cache = cache
  }

  deinit {
    // The entries and the stores hold each other, and a cache that other clients use may hold an entry.
    var stores: [(any AnyObject & Sendable)?] = []
    let entries = self.state.withLock { $0.entries.removeAll() }
    entries.forEach(matching: []) { stores.append($0.end()) }
  }
}

// MARK: - Looking up

extension ClientStorage {
  /// The store at a path; one that the cache has let go is taken back.
  @usableFromInline
  func store(at path: OperationPath) -> KeptStore? {
    let (entry, kept) = self.state.withLock { state -> (StoreEntry?, KeptStore?) in
      guard let entry = state.entries[path] else { return (nil, nil) }
      guard let store = entry.store else { return (entry, nil) }
      return (nil, KeptStore(runtime: entry.runtime, store: store))
    }
    if let kept { return kept }
    guard let entry, let store = entry.runtime.erasedStore else { return nil }
    let isKept = self.state.withLock { _ in
      guard entry.isKept else { return false }
      entry.store = store
      entry.isIdle = false
      return true
    }
    // The client has let it go in the meantime.
    guard isKept else { return self.store(at: path) }
    self.updateIdleness(of: entry)
    return KeptStore(runtime: entry.runtime, store: store)
  }

  /// The store at a path as it is: what ``store(at:)`` finds, for those who know its type.
  @usableFromInline
  func object(at path: OperationPath) -> (any AnyObject & Sendable)? {
    let (isThere, store) = self.state.withLock { state -> (Bool, (any AnyObject & Sendable)?) in
      guard let entry = state.entries[path] else { return (false, nil) }
      return (true, entry.store)
    }
    return store == nil && isThere ? self.store(at: path)?.store : store
  }

  /// The runtimes of the stores at paths that start with the given one.
  func runtimes(matching path: OperationPath) -> [any ErasedRuntime] {
    self.state.withLock { state in
      var runtimes: [any ErasedRuntime] = []
      state.entries.forEach(matching: path) { runtimes.append($0.runtime) }
      return runtimes
    }
  }

  /// The stores at paths that start with the given one.
  @usableFromInline
  func stores(matching path: OperationPath) -> PathTrie<KeptStore> {
    var lacksSome = false
    let (kept, entries) = self.state.withLock { state in
      let kept = state.entries.compactMap(matching: path) { entry -> KeptStore? in
        guard let store = entry.store else {
          lacksSome = true
          return nil
        }
        return KeptStore(runtime: entry.runtime, store: store)
      }
      return (kept, lacksSome ? state.entries.subtrie(matching: path) : nil)
    }
    // The client does not hold those that the cache has let go. They are looked for outside the lock, and by entries: one
    // that is taken back meanwhile is found as well.
    return entries?.compactMap { entry in
      entry.runtime.erasedStore.map { KeptStore(runtime: entry.runtime, store: $0) }
    } ?? kept
  }
}

// MARK: - Changing

extension ClientStorage {
  /// Keeps a store unless another is there at its path by now; the one that is there is returned.
  @usableFromInline
  func insertIfAbsent(_ new: KeptStore) -> KeptStore {
    let path = new.runtime.path
    while true {
      // What is found is held until after the lock: it may be the last to hold the store, or what works behind it.
      var (found, present): (StoreEntry?, (any AnyObject & Sendable)?)
      let insertion = self.state.withLock { state -> Insertion in
        found = state.entries[path]
        present = found.flatMap { $0.store ?? $0.runtime.erasedStore }
        // A store that is gone may have left its entry; one that came in the meantime is looked at again.
        if present != nil { return .refused }
        guard state.watchers.isEmpty, state.notes.isEmpty, !state.isDelivering else {
          _ = self.insert(new, into: &state)
          return .noted
        }
        state.isDelivering = true
        let (entry, dead) = self.put(new, into: &state)
        _ = dead?.end()
        return .silent(entry)
      }
      withExtendedLifetime((found, present)) {}
      switch insertion {
      case .refused: if let present = self.store(at: path) { return present }
      case .noted:
        self.deliver()
        return new
      case .silent(let entry):
        self.cache.storeDidBecomeIdle(entry.idleStore)
        self.deliverRest()
        return new
      }
    }
  }

  private enum Insertion {
    /// There is another.
    case refused
    case noted
    /// Nobody watches, and nothing is before it: the one who inserts tells the cache.
    case silent(StoreEntry)
  }

  /// Puts stores in and takes stores out at once. ``announceChanges()`` tells of it.
  ///
  /// - Parameter removed: The stores to take out, unless others are at their paths by now.
  func apply(removed: [KeptStore], added: [KeptStore]) {
    self.state.withLock { state in
      var change = StoreChange()
      for store in removed {
        let path = store.runtime.path
        guard let entry = state.entries[path], entry.runtime === store.runtime else { continue }
        state.entries[path] = nil
        self.note(removalOf: entry, in: &change, &state)
      }
      if !change.isEmpty { state.notes.append(.change(change)) }
      for store in added {
        state.newcomers.append(self.insert(store, into: &state))
      }
    }
  }

  /// Tells of what ``apply(removed:added:)`` has done, and looks whether the stores that were added are idle.
  func announceChanges() {
    self.deliver()
    let newcomers = self.state.withLock { state in
      defer { state.newcomers = [] }
      return state.newcomers
    }
    for entry in newcomers { self.updateIdleness(of: entry) }
  }

  /// Takes out the stores at paths that start with the given one.
  func removeAll(matching path: OperationPath) {
    self.state.withLock { state in
      var change = StoreChange()
      let removed = state.entries.removeAll(matching: path)
      removed.forEach(matching: []) { self.note(removalOf: $0, in: &change, &state) }
      if !change.isEmpty { state.notes.append(.change(change)) }
    }
    self.deliver()
  }

  /// Takes out the store at exactly this path.
  func remove(at path: OperationPath) {
    self.state.withLock { state in
      guard let entry = state.entries[path] else { return }
      var change = StoreChange()
      state.entries[path] = nil
      self.note(removalOf: entry, in: &change, &state)
      if !change.isEmpty { state.notes.append(.change(change)) }
    }
    self.deliver()
  }

  private func insert(_ new: KeptStore, into state: inout State) -> StoreEntry {
    let (entry, replaced) = self.put(new, into: &state)
    var change = StoreChange()
    if let replaced { self.note(removalOf: replaced, in: &change, &state) }
    change.added.append(new)
    state.notes.append(.change(change))
    state.notes.append(.idle(entry))
    return entry
  }

  /// Puts a store in without telling anybody.
  private func put(_ new: KeptStore, into state: inout State) -> (entry: StoreEntry, replaced: StoreEntry?) {
    let client = state.client ?? StoreEntryClient(self, cache: self.cache)
    state.client = client
    let entry = StoreEntry(client: client, runtime: new.runtime, store: new.store)
    new.runtime.keep(entry)
    return (entry, state.entries.updateValue(entry, at: new.runtime.path))
  }

  private func note(removalOf entry: StoreEntry, in change: inout StoreChange, _ state: inout State) {
    state.gone.append(entry)
    if entry.isIdle { state.notes.append(.active(entry)) }
    if let store = entry.end() { change.removed.append(KeptStore(runtime: entry.runtime, store: store)) }
  }
}

// MARK: - Idle stores

extension ClientStorage {
  /// Looks whether the store of an entry is idle, and acts on that.
  func updateIdleness(of entry: StoreEntry) {
    // Outside this lock: whoever has exclusive access to the store may be waiting for it.
    self.idlenessChanged(of: entry, to: entry.runtime.readIdleness())
  }

  /// The store of an entry has become idle, or stopped being so.
  func idlenessChanged(of entry: StoreEntry, to idleness: StoreIdleness) {
    var search: StoreSearch?
    while true {
      let step = self.state.withLock { self.note(idleness, of: entry, search, in: &$0) }
      switch step {
      case .none: return
      case .searching: search = StoreSearch(store: entry.runtime.erasedStore)
      case .waiting: return self.deliver()
      case .telling(let isIdle):
        self.tellCache(of: entry, isIdle: isIdle)
        return self.deliverRest()
      }
    }
  }

  /// What is to follow from a look at whether a store is idle.
  private enum IdlenessStep {
    case none
    /// The store is in use, and the client does not hold it.
    case searching
    /// The cache hears of it after what was before.
    case waiting
    /// The caller delivers, and begins with this.
    case telling(isIdle: Bool)
  }

  /// What a search for a store outside the lock has brought.
  private struct StoreSearch {
    let store: (any AnyObject & Sendable)?
  }

  private func note(
    _ idleness: StoreIdleness,
    of entry: StoreEntry,
    _ search: StoreSearch?,
    in state: inout State
  ) -> IdlenessStep {
    guard entry.isKept, entry.isOutdated(by: idleness.reading) else { return .none }
    if !idleness.isIdle, entry.store == nil {
      guard let search else { return .searching }
      entry.store = search.store
    }
    let wasIdle = entry.isIdle
    entry.idlenessReading = idleness.reading
    entry.isIdle = idleness.isIdle && entry.store != nil
    guard wasIdle != entry.isIdle else { return .none }
    guard state.notes.isEmpty, !state.isDelivering else {
      state.notes.append(entry.isIdle ? .idle(entry) : .active(entry))
      return .waiting
    }
    state.isDelivering = true
    return .telling(isIdle: entry.isIdle)
  }

  private func tellCache(of entry: StoreEntry, isIdle: Bool) {
    let store = entry.idleStore
    if isIdle { self.cache.storeDidBecomeIdle(store) } else { self.cache.storeDidBecomeActive(store.id) }
  }

  /// Lets go of an idle store: it stays at its path while somebody else holds it, and goes otherwise.
  func evict(_ entry: StoreEntry) {
    var store: (any AnyObject & Sendable)? = self.state.withLock { _ in
      guard entry.isIdle else { return nil }
      entry.isIdle = false
      return entry.store.take()
    }
    guard store != nil, isKnownUniquelyReferenced(&store) else { return }
    self.state.withLock { state in
      // Whoever has found the store in the meantime has put it back.
      guard entry.isKept, entry.store == nil, let store else { return }
      self.remove(entry, in: &state)
      var change = StoreChange()
      change.removed.append(KeptStore(runtime: entry.runtime, store: store))
      state.notes.append(.change(change))
    }
    self.deliver()
  }

  func storeIsGone(_ entry: StoreEntry) {
    self.state.withLock { state in
      if entry.isKept { self.remove(entry, in: &state) }
    }
  }

  /// Takes out an entry whose store the client does not hold.
  private func remove(_ entry: StoreEntry, in state: inout State) {
    state.entries[entry.runtime.path] = nil
    _ = entry.end()
  }
}

// MARK: - Watching

extension ClientStorage {
  func watch(_ path: OperationPath, onChange: @escaping @Sendable (StoreChange) -> Void) -> OperationSubscription {
    let id = self.state.withLock { state in
      state.lastWatcherID += 1
      state.watchers[state.lastWatcherID] = StoreWatcher(path: path, onChange: onChange)
      return state.lastWatcherID
    }
    return OperationSubscription { [weak self] in
      let watcher = self?.state.withLock { $0.watchers.removeValue(forKey: id) }
      watcher?.cancel()
    }
  }

  /// Tells the cache and the watchers what has happened, unless somebody does so already.
  private func deliver() {
    let isDelivering = self.state.withLock { state in
      defer { state.isDelivering = true }
      return state.isDelivering
    }
    if !isDelivering { self.deliverRest() }
  }

  private func deliverRest() {
    while true {
      let (notes, watchers, gone) = self.state.withLock { state -> ([Note], [StoreWatcher], [StoreEntry]) in
        defer { state.gone = [] }
        guard !state.notes.isEmpty else {
          state.isDelivering = false
          return ([], [], state.gone)
        }
        defer { state.notes = [] }
        return (state.notes, state.watchers.sorted { $0.key < $1.key }.map { $0.value }, state.gone)
      }
      _ = consume gone
      guard !notes.isEmpty else { return }
      for note in notes {
        switch note {
        case .change(let change): for watcher in watchers { watcher.receive(change) }
        case .idle(let entry): self.tellCache(of: entry, isIdle: true)
        case .active(let entry): self.tellCache(of: entry, isIdle: false)
        }
      }
    }
  }
}
