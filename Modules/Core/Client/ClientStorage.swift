internal import Synchronization

/// What works behind an ``OperationClient``: the stores by path, those who watch them, and the cache that lets them go.
///
/// The cache and the watchers are told of changes outside the lock, one at a time and in order.
@usableFromInline
final class ClientStorage: Sendable {
  enum Note: Sendable {
    case change(ClientChange)
    case idle(StoreEntry)
    case active(StoreEntry)
  }

  struct State: Sendable {
    var entries = PathTrie<StoreEntry>()
    var watchers: [UInt64: StoreWatcher] = [:]
    var lastWatcherID: UInt64 = 0
    var notes: [Note] = []
    /// Stores that were put in from outside, and may be in use already.
    var newcomers: [StoreEntry] = []
    var isDelivering = false
    /// How the entries refer to this object, once there are any.
    var client: StoreEntryClient?
  }

  let state = Locked(State())
  let cache: any OperationClient.StoreCache

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

// MARK: - Searching

extension ClientStorage {
  /// Runs `body` under the lock with the node at a path, or nil where there is none.
  ///
  /// Elements of user types are hashed and compared outside the lock: what `==` and `hash` do there is free.
  func withNode<R>(
    at path: OperationPath,
    _ body: (inout State, PathIndex.NodeID?, inout ReleasedValues) -> R
  ) -> R {
    guard path.hasErasedElements else {
      return self.state.withLock { state, released in body(&state, state.entries.index.node(at: path), &released) }
    }
    return self.withNode(at: PathSearch(path)) { state, node, _, released in body(&state, node, &released) }
  }

  /// As ``withNode(at:_:)``, for changes that insert at the path.
  private func withNode<R>(
    at search: PathSearch,
    _ body: (inout State, PathIndex.NodeID?, PathSearch, inout ReleasedValues) -> R
  ) -> R {
    var search = search
    while true {
      var undecided: PathSearch.Comparison?
      let result: R? = self.state.withLock { state, released in
        switch state.entries.index.search(search) {
        case .reached(let node, let length):
          return body(&state, length == search.path.count ? node : nil, search, &released)
        case .undecided(let comparison):
          undecided = comparison
          return nil
        }
      }
      guard let undecided else {
        guard let result else { preconditionFailure("A search that is decided has a result.") }
        return result
      }
      search.decide(undecided)
    }
  }
}

// MARK: - Looking up

extension ClientStorage {
  /// The store at a path; one that the cache has let go is taken back.
  @usableFromInline
  func store(at path: OperationPath) -> StoreHandle? {
    let (store, returned) = self.withNode(at: path) { state, node, _ in self.take(node, from: &state) }
    if let returned { self.updateIdleness(of: returned) }
    return store
  }

  /// The store at a path as it is: what ``store(at:)`` finds, for those who know its type.
  @usableFromInline
  func object(at path: OperationPath) -> (any AnyObject & Sendable)? {
    let (isInClient, store) = self.withNode(at: path) { state, node, _ -> (Bool, (any AnyObject & Sendable)?) in
      guard let node, let entry = state.entries[node: node] else { return (true, nil) }
      return (entry.store != nil, entry.store)
    }
    return isInClient ? store : self.store(at: path)?.store
  }

  /// The store at a node, with its entry if the client has taken it back.
  private func take(_ node: PathIndex.NodeID?, from state: inout State) -> (store: StoreHandle?, returned: StoreEntry?)
  {
    guard let node, let entry = state.entries[node: node] else { return (nil, nil) }
    if let store = entry.store { return (StoreHandle(runtime: entry.runtime, store: store), nil) }
    guard let store = entry.runtime.erasedStore else { return (nil, nil) }
    entry.store = store
    return (StoreHandle(runtime: entry.runtime, store: store), entry)
  }

  /// The runtimes of the stores at paths that start with the given one.
  func runtimes(matching path: OperationPath) -> [any ErasedRuntime] {
    self.withNode(at: path) { state, node, _ in
      var runtimes: [any ErasedRuntime] = []
      if let node { state.entries.forEach(within: node) { runtimes.append($0.runtime) } }
      return runtimes
    }
  }

  /// The stores at paths that start with the given one.
  @usableFromInline
  func stores(matching path: OperationPath) -> PathTrie<StoreHandle> {
    self.withNode(at: path) { state, node, _ in
      guard let node else { return PathTrie() }
      // Under the lock, also where the client does not hold them: a store that is found is not let go of meanwhile.
      return state.entries.compactMap(within: node) { entry in
        (entry.store ?? entry.runtime.erasedStore).map { StoreHandle(runtime: entry.runtime, store: $0) }
      }
    }
  }
}

// MARK: - Changing

extension ClientStorage {
  /// Keeps a store unless another is there at its path by now; the one that is there is returned.
  ///
  /// - Parameter isIdle: Whether it cannot be in use yet.
  @usableFromInline
  func insertIfAbsent(_ new: StoreHandle, isIdle: Bool) -> StoreHandle {
    let path = new.runtime.path
    let insertion: Insertion
    if path.hasErasedElements {
      insertion = self.withNode(at: PathSearch(path)) { state, node, search, released in
        self.insertIfAbsent(new, at: node, isIdle: isIdle, in: &state, &released) {
          $0.updateValue($1, at: search)
        }
      }
    } else {
      insertion = self.state.withLock { state, released in
        let node = state.entries.index.node(at: path)
        return self.insertIfAbsent(new, at: node, isIdle: isIdle, in: &state, &released) {
          $0.updateValue($1, at: path)
        }
      }
    }
    switch insertion {
    case .refused(let store, let returned):
      if let returned { self.updateIdleness(of: returned) }
      return store
    case .noted(let newcomer, let hasNotes):
      if hasNotes { self.deliver() }
      if let newcomer { self.updateIdleness(of: newcomer) }
    case .silent(let entry):
      self.cache.storeDidBecomeIdle(entry.idleStore)
      self.deliverRest()
    }
    return new
  }

  private enum Insertion {
    /// There is another, which the client may have taken back.
    case refused(StoreHandle, returned: StoreEntry?)
    /// Watchers, if there are any, hear of it; a store that may be in use is to be looked at.
    case noted(newcomer: StoreEntry?, hasNotes: Bool)
    /// There are no watchers, and nothing is to be told before: the caller tells the cache.
    case silent(StoreEntry)
  }

  private func insertIfAbsent(
    _ new: StoreHandle,
    at node: PathIndex.NodeID?,
    isIdle: Bool,
    in state: inout State,
    _ released: inout ReleasedValues,
    update: (inout PathTrie<StoreEntry>, StoreEntry) -> StoreEntry?
  ) -> Insertion {
    let (present, returned) = self.take(node, from: &state)
    if let present { return .refused(present, returned: returned) }
    let entry = self.makeEntry(of: new, isIdle: isIdle, in: &state)
    // A store that is gone may have left its entry.
    let replaced = update(&state.entries, entry)
    guard isIdle, state.watchers.isEmpty, state.notes.isEmpty, !state.isDelivering else {
      self.note(insertionOf: entry, new, replacing: replaced, in: &state, &released)
      return .noted(newcomer: isIdle ? nil : entry, hasNotes: !state.notes.isEmpty)
    }
    state.isDelivering = true
    if let replaced { released.append(self.end(replaced, in: &state, &released)) }
    return .silent(entry)
  }

  /// Puts stores in and takes stores out at once. ``notifyOfChanges()`` tells of it.
  ///
  /// - Parameter removed: The stores to take out, unless others are at their paths by now.
  func apply(removed: [StoreHandle], added: [StoreHandle]) {
    // Compared with each other here, and with what the client keeps as in all searches.
    let paths = OperationPath.sharingElements((removed + added).map(\.runtime.path))
    var searches = paths.map { PathSearch($0) }
    while true {
      var undecided: [(Int, PathSearch.Comparison)] = []
      self.state.withLock { state, released in
        for (position, search) in searches.enumerated() {
          if case .undecided(let comparison) = state.entries.index.search(search) {
            undecided.append((position, comparison))
          }
        }
        guard undecided.isEmpty else { return }
        self.remove(removed, at: searches[..<removed.count], in: &state, &released)
        for (store, search) in zip(added, searches[removed.count...]) {
          let entry = self.makeEntry(of: store, isIdle: false, in: &state)
          let replaced = state.entries.updateValue(entry, at: search)
          self.note(insertionOf: entry, store, replacing: replaced, in: &state, &released)
          state.newcomers.append(entry)
        }
      }
      if undecided.isEmpty { return }
      for (position, comparison) in undecided { searches[position].decide(comparison) }
    }
  }

  private func remove(
    _ stores: [StoreHandle],
    at searches: ArraySlice<PathSearch>,
    in state: inout State,
    _ released: inout ReleasedValues
  ) {
    var change = ClientChange()
    for (store, search) in zip(stores, searches) {
      guard case .reached(let node, search.path.count) = state.entries.index.search(search, isFinal: true),
        let entry = state.entries[node: node], entry.runtime === store.runtime
      else { continue }
      self.remove(at: node, from: &state, &released)
      if let store = self.end(entry, in: &state, &released) { change.removed.append(store) }
    }
    self.note(change, in: &state, &released)
  }

  /// Tells of what ``apply(removed:added:)`` has done, and looks whether the stores that were added are idle.
  func notifyOfChanges() {
    self.deliver()
    let newcomers = self.state.withLock { state in
      defer { state.newcomers = [] }
      return state.newcomers
    }
    for entry in newcomers { self.updateIdleness(of: entry) }
  }

  /// Takes out the stores at paths that start with the given one.
  func removeAll(matching path: OperationPath) {
    self.withNode(at: path) { state, node, released in
      guard let node else { return }
      var freed: [OperationPath.Element] = []
      let removed = state.entries.removeAll(within: node, freed: &freed)
      released.append(freed)
      released.append(removed)
      var change = ClientChange()
      removed.forEach(matching: []) { entry in
        if let store = self.end(entry, in: &state, &released) { change.removed.append(store) }
      }
      self.note(change, in: &state, &released)
    }
    self.deliver()
  }

  /// Takes out the store at exactly this path, and returns it.
  func remove(at path: OperationPath) -> StoreHandle? {
    let removed = self.withNode(at: path) { state, node, released -> StoreHandle? in
      guard let node, let entry = state.entries[node: node] else { return nil }
      self.remove(at: node, from: &state, &released)
      let removed = self.end(entry, in: &state, &released)
      if let removed { self.note(ClientChange(removed: [removed]), in: &state, &released) }
      return removed
    }
    self.deliver()
    return removed
  }
}
