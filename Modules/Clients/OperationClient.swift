/// Keeps the stores of a program by their paths, so that all users of an operation share one store.
///
/// A client can be used from any thread. Idle stores are evicted after a time: see ``DefaultStoreCache``.
public final class OperationClient: Sendable {
  @usableFromInline let storage: ClientStorage
  /// Whether the creator is a ``PlainStoreCreator``. The client then creates stores itself, with their types known
  /// statically.
  @usableFromInline let createsPlainStores: Bool
  @usableFromInline package let storeCreator: any StoreCreator
  private let context: Locked<OperationContext>
  /// The defaults of operations by the beginnings of their paths.
  let pathDefaults = PathDefaults()
  /// What was invalidated, for values that arrive later.
  package let invalidations = InvalidationLog()
  /// Held only during edits with `withStores`.
  let transactions = ReentrantLock()
  /// On when operations no longer run automatically.
  package let automaticRunsAreStopped = AtomicFlag(false)
  /// The objects that modules keep with the client, by their types.
  let attachments = Locked<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - defaultContext: The initial context of new stores.
  ///   - storeCache: Decides which idle stores are evicted.
  ///   - storeCreator: Creates the stores.
  public init(
    defaultContext: OperationContext = OperationContext(),
    storeCache: some StoreCache = DefaultStoreCache(),
    storeCreator: some StoreCreator = PlainStoreCreator()
  ) {
    self.storage = ClientStorage(cache: storeCache)
    self.storeCreator = storeCreator
    self.createsPlainStores = storeCreator is PlainStoreCreator
    self.context = Locked(defaultContext)
    self.defaultContext = defaultContext
  }

  /// The initial context of new stores.
  ///
  /// Its ``OperationContext/operationClient`` is always this client, whatever is assigned.
  public var defaultContext: OperationContext {
    get { self.context.withLock { $0 } }
    set {
      var context = newValue
      context.operationClient = self
      if let observers = self.attachment(of: ClientNoticeObservers.self) { context.addNoticeObserver(observers) }
      self.context.withLock { [context] current, released in
        released.append(current)
        current = context
      }
      context.attachClearings(to: self)
    }
  }
}

extension OperationContext {
  /// The client that the operation runs for; nil without one, and when it no longer exists.
  ///
  /// The context does not keep the client alive.
  public var operationClient: OperationClient? {
    get { self.clientReference?.client }
    set { self.clientReference = newValue.map { ClientReference($0, observers: $0.storage.observers) } }
  }
}

extension ClientReference {
  /// The client; nil once it has been released.
  var client: OperationClient? {
    // Every host is a client. A cast would take longer than the rest of the look-up.
    self.host.map { unsafeDowncast($0, to: OperationClient.self) }
  }
}

extension OperationClient: StoreHost {
  package var clearing: ClientClearing? { self.storage.clearing }

  package func runtimes(matching path: OperationPath) -> [StoreRuntime] { self.storage.runtimes(matching: path) }

  package func note(removed runtime: StoreRuntime) { self.storage.note(removed: runtime) }
}

extension OperationClient: CustomStringConvertible {
  /// The number of stores, and the number of stores with runs, in one line.
  ///
  /// - Complexity: O(*n*) in the number of stores. See ``snapshot()`` for each store.
  public var description: String {
    let runtimes = self.storage.runtimes(matching: [])
    let stores = runtimes.count == 1 ? "1 store" : "\(runtimes.count) stores"
    return "OperationClient(\(stores), \(runtimes.count { $0.isLoading }) loading)"
  }
}

// MARK: - Attachments

extension OperationClient {
  /// Returns the object of a type that a module keeps with the client, and makes it at the first call.
  ///
  /// The object lives as long as the client. It must not keep the client alive.
  ///
  /// - Parameter make: Makes the object, with no lock held. When several threads make one, all get the same.
  /// - Returns: The object.
  public func attachment<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
    if let object = self.attachment(of: Object.self) { return object }
    let made = make()
    return self.attachments.withLock { attachments in
      if let object = attachments[ObjectIdentifier(Object.self)] { return object }
      attachments[ObjectIdentifier(Object.self)] = made
      return made
    } as? Object ?? made
  }

  /// Looks up the object of a type that a module keeps with the client.
  ///
  /// - Parameter type: The type of the object.
  /// - Returns: The object; nil if there is none.
  public func attachment<Object: AnyObject & Sendable>(of type: Object.Type) -> Object? {
    self.attachments.withLock { $0[ObjectIdentifier(type)] } as? Object
  }

  /// Keeps an object with the client, and releases the previous object of its type.
  ///
  /// - Parameter object: The object, which must not keep the client alive.
  public func attach<Object: AnyObject & Sendable>(_ object: Object) {
    self.attachments.withLock { attachments, released in
      released.append(attachments.updateValue(object, forKey: ObjectIdentifier(Object.self)))
    }
  }
}

// MARK: - Changes of the stores

extension OperationClient {
  /// Reports the stores that are added or removed from now on at paths that start with `path`.
  ///
  /// Each store that is reported as added is reported as removed once, when it can no longer be found at its path. A
  /// store that has another owner after its cache time stays at its path until its last reference is released. Its
  /// object no longer exists when its removal is reported: the store in `storesRemoved` is another object with its
  /// path, context and last state.
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - onChange: Called in order and never with a lock held, after the change: added stores can be found, removed
  ///     ones cannot.
  /// - Returns: The subscription. Calls stop when it is cancelled or dropped.
  public func subscribe(
    matching path: OperationPath = [],
    onChange:
      @escaping @Sendable (
        (
          storesAdded: OperationPathableCollection<OpaqueOperationStore>,
          storesRemoved: OperationPathableCollection<OpaqueOperationStore>
        )
      ) -> Void
  ) -> OperationSubscription {
    self.storage.watch(path) { change in
      onChange(
        (
          storesAdded: .init(change.added.lazy.map(\.opaque)),
          storesRemoved: .init(change.removed.lazy.map(\.opaque))
        )
      )
    }
  }

  /// Reports the stores with a state of type `state` that are added or removed from now on.
  ///
  /// See ``subscribe(matching:onChange:)``.
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - state: The type of the state.
  ///   - onChange: Called in order and never with a lock held, after the change.
  /// - Returns: The subscription. Calls stop when it is cancelled or dropped.
  public func subscribe<State: OperationState & Sendable>(
    matching path: OperationPath = [],
    state: State.Type,
    onChange:
      @escaping @Sendable (
        (
          storesAdded: OperationPathableCollection<OperationStore<State>>,
          storesRemoved: OperationPathableCollection<OperationStore<State>>
        )
      ) -> Void
  ) -> OperationSubscription {
    self.storage.watch(path) { change in
      let added = OperationPathableCollection(change.added.lazy.compactMap { $0.store as? OperationStore<State> })
      let removed = OperationPathableCollection(change.removed.lazy.compactMap { $0.store as? OperationStore<State> })
      guard !added.isEmpty || !removed.isEmpty else { return }
      onChange((storesAdded: added, storesRemoved: removed))
    }
  }
}

// MARK: - Notices

extension OperationClient {
  /// Calls `receive` for the notices of all stores of the client, in runs that begin from now on.
  ///
  /// ```swift
  /// let subscription = client.onNotice { notice in print(notice) }  // For example: circuit.opened circuit.name=posts
  /// ```
  ///
  /// The observer is added to the observers of the operations. It does not receive notices that were sent without a
  /// context of the client, such as notices of a detached store.
  ///
  /// - Parameter receive: Called in the task that sends the notice, while no lock is held. The run waits until it
  ///   returns.
  /// - Returns: The subscription. No notice is received after it is cancelled or dropped.
  /// - Complexity: O(*n*) in the number of stores for the first observer of a client, and then O(1).
  public func onNotice(_ receive: @escaping @Sendable (OperationNotice) -> Void) -> OperationSubscription {
    self.onNotice { notice, _ in receive(notice) }
  }

  /// Calls `receive` with the notices of all stores of the client, and with the contexts of their runs.
  ///
  /// Works like the method with a closure that takes the notice alone.
  ///
  /// - Parameter receive: Called in the task that sends the notice, while no lock is held. The run waits until it
  ///   returns.
  /// - Returns: The subscription. No notice is received after it is cancelled or dropped.
  public func onNotice(
    _ receive: @escaping @Sendable (OperationNotice, OperationContext) -> Void
  ) -> OperationSubscription {
    let observers = self.attachment { ClientNoticeObservers() }
    let subscription = observers.add(receive)
    self.defaultContext.addNoticeObserver(observers)
    if observers.isFirstUse { self.addToStores(observers) }
    return subscription
  }

  /// Adds an observer to the contexts of the present stores. New stores have it from the context of the client.
  private func addToStores(_ observer: ClientNoticeObservers) {
    for runtime in self.storage.runtimes(matching: []) {
      runtime.withExclusiveAccess { runtime.context.addNoticeObserver(observer) }
    }
  }
}

extension OperationContext {
  /// Adds the observer of a client, unless the context has it.
  mutating func addNoticeObserver(_ observer: ClientNoticeObservers) {
    self.observeNotices(with: observer) { $0 === observer }
  }
}

/// Passes notices on to the present observers of a client. Observers can change without a change of the stores'
/// contexts.
final class ClientNoticeObservers: OperationNoticeObserver {
  private typealias Receive = @Sendable (OperationNotice, OperationContext) -> Void

  private struct State {
    var lastID: UInt64 = 0
    /// In the order in which they were added.
    var observers: [(id: UInt64, receive: Receive)] = []
  }

  private let state = Locked(State())
  private let isUsed = AtomicFlag(false)

  /// Whether this is the first call.
  fileprivate var isFirstUse: Bool { !self.isUsed.set(true) }

  fileprivate func add(
    _ receive: @escaping @Sendable (OperationNotice, OperationContext) -> Void
  )
    -> OperationSubscription
  {
    let isCancelled = AtomicFlag(false)
    let id = self.state.withLock { state in
      state.lastID += 1
      state.observers.append((state.lastID, { if !isCancelled.isOn { receive($0, $1) } }))
      return state.lastID
    }
    return OperationSubscription {
      _ = isCancelled.set(true)
      self.state.withLock { state, released in
        guard let index = state.observers.firstIndex(where: { $0.id == id }) else { return }
        released.append(state.observers.remove(at: index).receive)
      }
    }
  }

  func receive(_ notice: OperationNotice, in context: OperationContext) {
    for observer in self.state.withLock({ $0.observers }) { observer.receive(notice, context) }
  }
}

// MARK: - Flushing

/// An object attached to a client that has something to write before the program ends.
///
/// ``OperationClient/flush()`` flushes the objects that are attached to a client.
public protocol OperationClientFlushable: AnyObject, Sendable {
  /// Writes what is not written yet, and returns when it is written, or soon after the current task is cancelled.
  ///
  /// - Returns: Whether everything was written. The method reports a failure itself.
  func flush() async -> Bool

  /// Called when the client has stopped its automatic runs: see ``OperationClient/stopAutomaticRuns()``.
  ///
  /// From then on nothing begins work that no caller waits for, and no caller waits for such work. The default does
  /// nothing.
  func automaticRunsDidStop()
}

extension OperationClientFlushable {
  public func automaticRunsDidStop() {}
}

extension OperationClient {
  /// Writes what the modules of the client have not written yet, such as persisted values.
  ///
  /// Call it before the program ends, after the last runs have ended. `OperationServiceLifecycle` calls it during a
  /// graceful shutdown.
  ///
  /// - Returns: Whether everything was written. False after a failure, which was reported, and when the current task
  ///   was cancelled.
  @discardableResult
  public func flush() async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      for attachment in self.flushables {
        group.addTask { await attachment.flush() }
      }
      return await group.reduce(true) { $0 && $1 }
    }
  }

  var flushables: [any OperationClientFlushable] {
    self.attachments.withLock { Array($0.values) }.compactMap { $0 as? any OperationClientFlushable }
  }
}

// MARK: - Shutdown

extension OperationClient {
  /// Stops automatic runs for subscribers, for the rest of the client's life.
  ///
  /// Direct calls still run operations. A journal of mutations makes no stored call any more that has no caller; callers
  /// whose calls wait behind one get an error, and their calls stay in the journal. A program that shuts down calls it,
  /// then waits for ``runningStores()``.
  public func stopAutomaticRuns() {
    _ = self.automaticRunsAreStopped.set(true)
    for attachment in self.flushables { attachment.automaticRunsDidStop() }
  }

  /// Returns the stores whose operations are running.
  ///
  /// - Complexity: O(*n*) in the number of stores.
  public func runningStores() -> [OpaqueOperationStore] {
    self.storage.runtimes(matching: []).filter(\.isLoading).compactMap(\.reference.store)
  }
}

// MARK: - Observers

extension OperationClient {
  /// Observes the stores at paths that start with a prefix: those that are there, and later ones before they are used.
  ///
  /// The observer leaves a store when the client no longer has it.
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - observer: The observer, which the client keeps.
  /// - Returns: The subscription. It keeps neither the client nor the stores alive.
  /// - Complexity: O(*n*) in the number of matching stores.
  public func observe(matching path: OperationPath = [], with observer: some StoreObserver) -> OperationSubscription {
    self.storage.observers.add(observer, at: path, in: self)
  }
}

extension StoreReference {
  /// The store, if the client has it.
  ///
  /// - Parameter client: The client.
  /// - Returns: The store; nil if the client does not have it.
  public func store(in client: OperationClient) -> OpaqueOperationStore? {
    guard let store = self.store, let entry = store.runtime.lockedEntry as? StoreEntry,
      entry.client.storage === client.storage
    else { return nil }
    return store
  }
}
