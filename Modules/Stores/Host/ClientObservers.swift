internal import Synchronization

/// The observers of a client's stores, each with the prefix of the paths that it observes.
///
/// Each store refers to the list of those that observe it, which stores with the same observers share. Only the store
/// changes that reference, with its lock held, so that an observation has one beginning and one end.
package final class ClientObservers: Sendable {
  /// One call of ``OperationClient/observe(matching:with:)``.
  final class Member: Sendable {
    let id: UInt64
    let path: OperationPath
    let observing: StoreObserving
    private let hasLeft = AtomicFlag(false)

    init(id: UInt64, path: OperationPath, observing: StoreObserving) {
      self.id = id
      self.path = path
      self.observing = observing
    }

    /// Whether the subscription goes on.
    var isActive: Bool { !self.hasLeft.isOn }

    func leave() { _ = self.hasLeft.set(true) }
  }

  /// The members that observe a store, in the order in which they were added.
  final class List: Sendable {
    let members: [Member]
    /// Each observer once.
    let observings: [StoreObserving]
    /// What all of them receive.
    let watch: StoreWatch

    init(_ members: [Member]) {
      self.members = members
      var observings: [StoreObserving] = []
      for member in members where !observings.contains(where: { $0.observer === member.observing.observer }) {
        observings.append(member.observing)
      }
      self.observings = observings
      self.watch = observings.reduce(into: .client) { $0.formUnion($1.watch) }
    }

    func contains(_ observer: any StoreObserver) -> Bool { self.observings.contains { $0.observer === observer } }
  }

  private struct State: Sendable {
    var lastID: UInt64 = 0
    var members: [Member] = []
    /// The lists that stores share, by the numbers of their members.
    var lists: [[UInt64]: List] = [:]
  }

  private let state = Locked(State())
  /// What all observers receive; 0 without observers.
  private let union = Atomic<UInt32>(0)

  package init() {}

  /// Whether there are no observers.
  @inline(__always)
  var isEmpty: Bool { self.union.load(ordering: .acquiring) == 0 }

  /// Whether an observer of any path receives events of one of these kinds.
  @inline(__always)
  package func receives(_ kinds: StoreEvent.Kinds) -> Bool {
    self.union.load(ordering: .relaxed) & UInt32(kinds.rawValue) != 0
  }

  /// The list of these members; nil for none.
  func list(of members: [Member]) -> List? {
    if members.isEmpty { return nil }
    return self.state.withLock { state in
      let key = members.map(\.id)
      if let known = state.lists[key] { return known }
      let list = List(members)
      // A list with a member that leaves at this moment is not kept.
      if members.allSatisfy(\.isActive) { state.lists[key] = list }
      return list
    }
  }
}

// MARK: - Adding and removing

extension ClientObservers {
  package func add(
    _ observer: any StoreObserver,
    at path: OperationPath,
    in host: any StoreHost
  ) -> OperationSubscription {
    let observing = StoreObserving(observer)
    let member = self.state.withLock { state in
      state.lastID += 1
      let member = Member(id: state.lastID, path: path, observing: observing)
      state.members.append(member)
      self.updateUnion(state)
      return member
    }
    // A store that is not found here is taken later, and begins with the member then.
    for runtime in host.runtimes(matching: path) { runtime.begin(with: member, in: self) }
    return OperationSubscription { [weak self, weak host] in self?.remove(member, of: host) }
  }

  private func remove(_ member: Member, of host: (any StoreHost)?) {
    member.leave()
    self.state.withLock { state, released in
      released.append(state.members)
      released.append(state.lists)
      state.members.removeAll { $0 === member }
      state.lists = state.lists.filter { !$0.key.contains(member.id) }
      self.updateUnion(state)
    }
    // A store that is not found here ends the observation when the client has taken it, or no longer has it.
    for runtime in host?.runtimes(matching: member.path) ?? [] { runtime.endObservations(in: self) }
  }

  private func updateUnion(_ state: State) {
    let watch = state.members.reduce(into: StoreWatch.client) { $0.formUnion($1.observing.watch) }
    self.union.store(state.members.isEmpty ? 0 : watch.rawValue, ordering: .releasing)
  }
}

// MARK: - Stores that the client takes

extension ClientObservers {
  /// The members that observe a store at a path.
  private func members(at path: OperationPath) -> [Member] {
    self.state.withLock { state in state.members.filter { $0.path.isPrefix(of: path) } }
  }

  /// Begins to observe a store that the client makes. Called before anything else can use the store.
  func storeWillBeTaken(_ runtime: StoreRuntime) {
    if self.isEmpty { return }
    for member in self.members(at: runtime.path) { runtime.begin(with: member, in: self, isTaken: false) }
  }

  /// Begins the observations by observers that were added meanwhile, and ends those by observers that were removed.
  package func storeWasTaken(_ runtime: StoreRuntime) {
    if !self.isEmpty || runtime.isObservedByClient {
      for member in self.members(at: runtime.path) { runtime.begin(with: member, in: self) }
      runtime.endObservations(in: self)
    }
    runtime.wasAddedToClient()
  }

  /// The client no longer has a store: its observers leave.
  package func storeWasRemoved(_ runtime: StoreRuntime, _ removal: StoreEvent.Removal, by cause: OperationRunCause?) {
    // In this order: an observer that has left the list, and did not find the store in the client any more, has begun
    // before, so that the store has observers.
    if !self.isEmpty || runtime.hasObservers { runtime.leaveClientObservers(removal, by: cause) }
  }
}
