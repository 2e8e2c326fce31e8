/// The state that a store shows, as observers of the store receive it: without its type.
public struct ShownState: Sendable {
  private let stored: any StoredState

  init(_ stored: any StoredState) {
    self.stored = stored
  }

  /// The state with its type.
  ///
  /// - Precondition: The state of the store is of this type.
  public func value<State: OperationState & Sendable>(as state: State.Type) -> State { self.stored.value(as: state) }
}

/// Is notified when a store shows another value, for modules that keep an index of values.
///
/// Handlers receive events in order, possibly after the change has returned. An observer is notified as soon as anybody
/// can read the new value.
public protocol ShownStateObserver: AnyObject, Sendable {
  /// Called with the lock of the store held, in the order of the changes, when the value or the error may have changed.
  ///
  /// It must not call user code, and must not release objects of users.
  ///
  /// - Returns: Objects that the observer no longer needs, to be released after the lock.
  func storeShows(_ state: ShownState) -> (any Sendable)?

  /// Called with no lock held after changes, by the thread that has made them, before the handlers are notified.
  ///
  /// After exclusive access it is called once, when that ends.
  func settle()

  /// Called with no lock held when the store was removed from its client, was added again, or is deinitialized.
  func storeHasMoved()

  /// Called with no lock held when the store was invalidated, before it runs again for its subscribers.
  func storeIsInvalidated()
}

extension ShownStateObserver {
  public func storeIsInvalidated() {}
}

/// Makes observers for stores. A modifier adds it to the context of an operation.
public protocol ShownStateFollower: Sendable {
  /// Makes the observer of a new store.
  ///
  /// - Parameters:
  ///   - store: The store, before it is returned to its maker.
  ///   - shown: The initial state, which is a `State`.
  ///   - state: The type of the state.
  ///   - context: The context that the operation has set up.
  /// - Returns: The observer; nil if there is nothing to observe.
  func observer<State: OperationState & Sendable>(
    of store: StoreReference,
    showing shown: ShownState,
    as state: State.Type,
    in context: OperationContext
  ) -> (any ShownStateObserver)?
}

extension OperationContext {
  /// The objects that follow the values of the operation's stores. Modifiers add them in their `setup`.
  public var shownStateFollowers: [any ShownStateFollower] {
    get { self[ShownStateFollowersKey.self] }
    set { self[ShownStateFollowersKey.self] = newValue }
  }

  enum ShownStateFollowersKey: Key {
    static let defaultValue: [any ShownStateFollower] = []
  }
}

extension StoreReference {
  /// The state that the store shows; nil once the store has been released.
  public var shownState: ShownState? { (self.runtime?.shownState).map { ShownState($0) } }

  /// Whether a client has the store.
  public var isInClient: Bool { self.runtime?.lockedEntry != nil }

  /// The store, if the client has it.
  public func store(in client: OperationClient) -> OpaqueOperationStore? {
    guard let store = self.store, let entry = store.runtime.lockedEntry,
      entry.client.storage === client.storage
    else { return nil }
    return store
  }
}

extension OperationStore {
  /// Adds an observer, unless the store has one of its type.
  ///
  /// - Parameters:
  ///   - type: The type of the observer.
  ///   - makeObserver: Returns the observer. It is notified of each change that can be read after the call. Called with
  ///     the lock of the store held, so it must not call user code.
  ///     lock of the store held.
  public func addShownStateObserver<Observer: ShownStateObserver>(
    _ type: Observer.Type,
    _ makeObserver: @Sendable () -> Observer
  ) {
    self.runtime.noteDependent()
    self.runtime.withMachine { machine in
      if machine.shownStateObservers.contains(where: { $0 is Observer }) { return }
      machine.shownStateObservers.append(makeObserver())
    }
  }
}

extension StoreRuntime {
  /// Makes the observers of a store before it is returned to its maker.
  func attach<State: OperationState & Sendable>(
    _ followers: [any ShownStateFollower],
    for state: State.Type,
    in context: OperationContext
  ) {
    let shown = ShownState(self.shownState)
    let observers = followers.compactMap {
      $0.observer(of: self.reference, showing: shown, as: State.self, in: context)
    }
    if !observers.isEmpty { self.withMachine { $0.shownStateObservers = observers } }
  }

  /// Notifies the observers that the store was added to a client or removed from it, or is deinitialized.
  func notifyOfMove() {
    guard self.hasDependents else { return }
    for observer in self.withMachine({ $0.shownStateObservers }) { observer.storeHasMoved() }
  }
}

extension StoreMachine {
  var shownStateObservers: [any ShownStateObserver] {
    get { self.extras?.content.shownStateObservers ?? [] }
    _modify { yield &self.uniqueExtras().content.shownStateObservers }
  }

  /// Passes the shown state to the observers. Returns them: the caller lets them settle after the lock.
  func notifyObservers(_ released: inout ReleasedValues) -> [any ShownStateObserver] {
    guard let observers = self.extras?.content.shownStateObservers, !observers.isEmpty else { return [] }
    for observer in observers {
      if let dropped = observer.storeShows(ShownState(self.shownState)) { released.append(dropped) }
    }
    return observers
  }
}
