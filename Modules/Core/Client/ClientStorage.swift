internal import Synchronization

/// What works behind an ``OperationClient``: the stores by path, those who watch them, and the cache that lets them go.
///
/// The cache and the watchers are told of changes outside the lock, one at a time and in order.
@usableFromInline
final class ClientStorage: Sendable {
  struct Entry: Sendable {
    let id: StoreEntryIdentifier
    let runtime: any ErasedRuntime
    /// The store; nil once the cache has let it go, after which it is there while somebody else holds it.
    var store: (any AnyObject & Sendable)?
    private var idleness: UInt64

    init(id: StoreEntryIdentifier, runtime: any ErasedRuntime, store: any AnyObject & Sendable, isIdle: Bool) {
      self.id = id
      self.runtime = runtime
      self.store = store
      self.idleness = isIdle ? 1 : 0
    }

    // Two in one word, as there is an entry for each store.
    var isIdle: Bool {
      get { self.idleness & 1 != 0 }
      set { self.idleness = self.idleness & ~1 | (newValue ? 1 : 0) }
    }

    var idlenessReading: UInt64 {
      get { self.idleness >> 1 }
      set { self.idleness = newValue << 1 | self.idleness & 1 }
    }
  }

  private enum Note: Sendable {
    case change(StoreChange)
    case idle(StoreEntryIdentifier, any ErasedRuntime)
    case active(StoreEntryIdentifier)
  }

  private struct State: Sendable {
    var entries = PathTrie<Entry>()
    var lastID: StoreEntryIdentifier = 0
    var watchers: [UInt64: StoreWatcher] = [:]
    var lastWatcherID: UInt64 = 0
    var notes: [Note] = []
    /// Stores that came from outside, where they need not be idle.
    var newcomers: [(StoreEntryIdentifier, OperationPath)] = []
    var isDelivering = false
    /// How the stores refer to this object, once there are any.
    var asKeeper: WeakStoreKeeper?
  }

  private let state = Mutex(State())
  private let cache: any OperationClient.StoreCache

  init(cache: any OperationClient.StoreCache) {
    self.cache = cache
  }
}

// MARK: - Looking up

extension ClientStorage {
  /// The store at a path; one that the cache has let go is taken back.
  @usableFromInline
  func store(at path: OperationPath) -> KeptStore? {
    guard let found = self.state.withLock({ $0.entries[path] }) else { return nil }
    if let store = found.store { return KeptStore(runtime: found.runtime, store: store) }
    guard let store = found.runtime.erasedStore else { return nil }
    self.state.withLock { state in
      guard var entry = state.entries[path], entry.id == found.id else { return }
      entry.store = store
      entry.isIdle = false
      state.entries[path] = entry
    }
    self.idlenessChanged(of: found.id, at: path)
    return KeptStore(runtime: found.runtime, store: store)
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
    let entries = self.state.withLock { $0.entries.subtrie(matching: path) }
    return entries.compactMap { entry in
      (entry.store ?? entry.runtime.erasedStore).map { KeptStore(runtime: entry.runtime, store: $0) }
    }
  }
}

// MARK: - Changing

extension ClientStorage {
  /// Keeps a store unless another is there at its path by now; the one that is there is returned.
  @usableFromInline
  func insertIfAbsent(_ new: KeptStore) -> KeptStore {
    let path = new.runtime.path
    while true {
      let insertion = self.state.withLock { state -> Insertion in
        // A store that is gone may have left its entry; one that came in the meantime is looked at again.
        if let entry = state.entries[path], entry.store != nil || entry.runtime.erasedStore != nil { return .refused }
        guard state.watchers.isEmpty, state.notes.isEmpty, !state.isDelivering else {
          self.insert(new, into: &state)
          return .noted
        }
        state.isDelivering = true
        return .silent(self.put(new, into: &state).id)
      }
      switch insertion {
      case .refused: if let present = self.store(at: path) { return present }
      case .noted:
        self.deliver()
        return new
      case .silent(let id):
        self.cache.storeDidBecomeIdle(OperationClient.IdleStore(entry: id, runtime: new.runtime, storage: self))
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
    case silent(StoreEntryIdentifier)
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
        self.insert(store, into: &state)
        state.newcomers.append((state.lastID, store.runtime.path))
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
    for (id, path) in newcomers { self.idlenessChanged(of: id, at: path) }
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

  private func insert(_ new: KeptStore, into state: inout State) {
    let (id, replaced) = self.put(new, into: &state)
    var change = StoreChange()
    if let replaced { self.note(removalOf: replaced, in: &change, &state) }
    change.added.append(new)
    state.notes.append(.change(change))
    state.notes.append(.idle(id, new.runtime))
  }

  /// Puts a store in without telling anybody.
  private func put(_ new: KeptStore, into state: inout State) -> (id: StoreEntryIdentifier, replaced: Entry?) {
    state.lastID += 1
    let entry = Entry(id: state.lastID, runtime: new.runtime, store: new.store, isIdle: true)
    let path = new.runtime.path
    let keeper = state.asKeeper ?? WeakStoreKeeper(self)
    state.asKeeper = keeper
    new.runtime.keep(StoreKeeperReference(keeper: keeper, entry: entry.id))
    return (entry.id, state.entries.updateValue(entry, at: path))
  }

  private func note(removalOf entry: Entry, in change: inout StoreChange, _ state: inout State) {
    if entry.isIdle { state.notes.append(.active(entry.id)) }
    if let store = entry.store { change.removed.append(KeptStore(runtime: entry.runtime, store: store)) }
  }
}

// MARK: - Idle stores

extension ClientStorage: StoreKeeper {
  @usableFromInline
  func idlenessChanged(of id: StoreEntryIdentifier, at path: OperationPath) {
    guard let entry = self.state.withLock({ $0.entries[path] }), entry.id == id else { return }
    // Read outside this lock: whoever has exclusive access to the store may be waiting for it.
    let (isIdle, reading) = entry.runtime.readIdleness()
    let store = isIdle ? nil : entry.runtime.erasedStore
    self.state.withLock { state in
      guard let entry = state.entries[path], entry.id == id else { return }
      self.note(isIdle: isIdle, reading: reading, of: entry, &state, holding: store)
    }
    self.deliver()
  }

  private func note(
    isIdle: Bool,
    reading: UInt64,
    of entry: Entry,
    _ state: inout State,
    holding store: (any AnyObject & Sendable)? = nil
  ) {
    guard reading > entry.idlenessReading else { return }
    let path = entry.runtime.path
    var entry = entry
    let wasIdle = entry.isIdle
    entry.idlenessReading = reading
    entry.isIdle = isIdle && (entry.store != nil || store != nil)
    if !isIdle, entry.store == nil { entry.store = store }
    state.entries[path] = entry
    guard wasIdle != entry.isIdle else { return }
    if entry.isIdle {
      state.notes.append(.idle(entry.id, entry.runtime))
    } else {
      state.notes.append(.active(entry.id))
    }
  }

  /// Lets go of an idle store: it stays at its path while somebody else holds it, and goes otherwise.
  func evict(_ id: StoreEntryIdentifier, at path: OperationPath) {
    var store: (any AnyObject & Sendable)? = self.state.withLock { state in
      guard var entry = state.entries[path], entry.id == id, entry.isIdle else { return nil }
      defer { state.entries[path] = entry }
      entry.isIdle = false
      defer { entry.store = nil }
      return entry.store
    }
    guard store != nil, isKnownUniquelyReferenced(&store) else { return }
    self.state.withLock { state in
      // Whoever has found the store in the meantime has put it back.
      guard let entry = state.entries[path], entry.id == id, entry.store == nil, let store else { return }
      state.entries[path] = nil
      var change = StoreChange()
      change.removed.append(KeptStore(runtime: entry.runtime, store: store))
      state.notes.append(.change(change))
    }
    self.deliver()
  }

  @usableFromInline
  func storeIsGone(_ id: StoreEntryIdentifier, at path: OperationPath) {
    self.state.withLock { state in
      guard let entry = state.entries[path], entry.id == id else { return }
      state.entries[path] = nil
    }
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
      let (notes, watchers) = self.state.withLock { state -> ([Note], [StoreWatcher]) in
        guard !state.notes.isEmpty else {
          state.isDelivering = false
          return ([], [])
        }
        defer { state.notes = [] }
        return (state.notes, state.watchers.sorted { $0.key < $1.key }.map { $0.value })
      }
      guard !notes.isEmpty else { return }
      for note in notes {
        switch note {
        case .change(let change): for watcher in watchers { watcher.receive(change) }
        case .idle(let id, let runtime):
          self.cache.storeDidBecomeIdle(OperationClient.IdleStore(entry: id, runtime: runtime, storage: self))
        case .active(let id):
          self.cache.storeDidBecomeActive(OperationClient.IdleStore.ID(client: ObjectIdentifier(self), entry: id))
        }
      }
    }
  }
}
