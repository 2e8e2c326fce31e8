/// Listens to the stores of a client at paths that start with a prefix, also to stores that are made later.
final class StoreFollowing: Sendable {
  private struct Member: Sendable {
    weak let runtime: StoreRuntime?
    let listener: StoreListener
  }

  private struct State: Sendable {
    var members: [ObjectIdentifier: Member] = [:]
    var isCancelled = false
  }

  private let path: OperationPath
  /// Makes the listener of a store. It has to pass the closure on as `onStoreGone`, and must not keep the store alive.
  private let makeListener: @Sendable (StoreRuntime, @escaping @Sendable () -> Void) -> StoreListener
  private let state = Locked(State())

  init(
    _ path: OperationPath,
    makeListener: @escaping @Sendable (StoreRuntime, @escaping @Sendable () -> Void) -> StoreListener
  ) {
    self.path = path
    self.makeListener = makeListener
  }

  /// Listens to a store, unless its path has another beginning or it is listened to already.
  func follow(_ runtime: StoreRuntime) {
    guard self.path.isPrefix(of: runtime.path) else { return }
    let id = ObjectIdentifier(runtime)
    let listener = self.makeListener(runtime) { [weak self] in self?.forget(id) }
    let isNew = self.state.withLock { state in
      guard !state.isCancelled, state.members[id] == nil else { return false }
      state.members[id] = Member(runtime: runtime, listener: listener)
      return true
    }
    guard isNew else { return }
    runtime.add(listener)
    // This object may have been cancelled before the listener was added.
    if listener.hasLeft { runtime.remove(listener) }
  }

  /// Forgets a store that is being released.
  private func forget(_ id: ObjectIdentifier) {
    self.state.withLock { state, released in released.append(state.members.removeValue(forKey: id)) }
  }

  /// Leaves all stores.
  func cancel() {
    let members = self.state.withLock { state in
      defer { state.members = [:] }
      state.isCancelled = true
      return state.members
    }
    for member in members.values {
      member.listener.cancel()
      member.runtime?.remove(member.listener)
    }
  }
}

/// The objects that follow the stores of a client.
@usableFromInline
final class StoreFollowings: Sendable {
  private struct State: Sendable {
    var lastID: UInt64 = 0
    /// In the order in which they were added.
    var followings: [(id: UInt64, following: StoreFollowing)] = []
  }

  private let state = Locked(State())
  private let hasAny = AtomicFlag(false)

  /// Adds an object that follows the stores that are made from now on.
  ///
  /// - Returns: The subscription that removes and cancels it.
  func add(_ following: StoreFollowing) -> OperationSubscription {
    let id = self.state.withLock { state in
      state.lastID += 1
      state.followings.append((state.lastID, following))
      _ = self.hasAny.set(true)
      return state.lastID
    }
    return OperationSubscription { [weak self] in
      self?.remove(id)
      following.cancel()
    }
  }

  private func remove(_ id: UInt64) {
    self.state.withLock { state, released in
      guard let index = state.followings.firstIndex(where: { $0.id == id }) else { return }
      released.append(state.followings.remove(at: index).following)
      if state.followings.isEmpty { _ = self.hasAny.set(false) }
    }
  }

  /// Follows a store that has been made, before anybody else uses it.
  @usableFromInline
  func storeWasMade(_ runtime: StoreRuntime) {
    guard self.hasAny.isOn else { return }
    for (_, following) in self.state.withLock({ $0.followings }) { following.follow(runtime) }
  }
}

extension OperationClient {
  /// Listens to the stores at paths that start with a prefix, also to stores that are made later.
  ///
  /// - Parameters:
  ///   - following: Listens to the stores.
  ///   - path: The prefix of the following.
  ///   - onMove: Called with no lock held after a store was added to the client or removed from it, and with each store
  ///     that is there.
  /// - Returns: The subscription, which keeps neither the client nor the stores alive.
  func follow(
    with following: StoreFollowing,
    matching path: OperationPath,
    onMove: (@Sendable (StoreRuntime) -> Void)? = nil
  ) -> OperationSubscription {
    // The order matters: a store that is missed while it is made is found among the added stores or the present ones.
    let subscription = self.followings.add(following)
    let watching = self.storage.watch(path) { change in
      for store in change.added { following.follow(store.runtime) }
      if let onMove { for store in change.added + change.removed { onMove(store.runtime) } }
    }
    for runtime in self.storage.runtimes(matching: path) {
      following.follow(runtime)
      onMove?(runtime)
    }
    return .combined(watching, subscription)
  }
}
