/// Receives what happens in stores.
///
/// An observer is added to the stores of an operation in the `setup` of a modifier, to the stores of a client, or to a
/// store that exists:
///
/// ```swift
/// let subscription = client.observe(matching: ["posts"], with: RunMetrics())
/// ```
///
/// A store passes its events on one at a time and in order, after the handlers of its subscribers. Between two stores
/// there is no order. While a store has no observer of a kind, its events are not made.
///
/// An observer must not keep a store alive: a ``StoreReference`` is weak. It is in a store once, however often it was
/// added.
public protocol StoreObserver: AnyObject, Sendable {
  /// The kinds of events that the observer receives. Asked once, when it is added. All by default.
  var observedEvents: StoreEvent.Kinds { get }

  /// Called once for each event of a store, in order, with no lock held.
  ///
  /// It may use stores, and add and remove observers. The events of what it changes are delivered later.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - store: The store.
  func receive(_ event: StoreEvent, of store: StoreReference)
}

/// An observer that is called before a new value can be read, for an index of values.
///
/// Events may be delivered after the change has returned. A value observer is up to date as soon as the new value can be
/// read.
public protocol StoreValueObserver: StoreObserver {
  /// Called with the lock of the store held, in the order of the changes, when the value or the error may differ.
  ///
  /// It is called first when the observer is added, then also at an invalidation, and when a client has taken or dropped
  /// the store. It only notes: it must call no user code, no store and no client, and must not release objects of users.
  ///
  /// - Parameters:
  ///   - shown: The state.
  ///   - store: The store.
  /// - Returns: What the observer no longer needs, to be released after the lock.
  func storeShows(_ shown: ShownState, of store: StoreReference) -> (any Sendable)?

  /// Called with no lock held by the thread that has made the change, before the handlers are notified.
  ///
  /// After exclusive access it is called once, when that ends.
  ///
  /// - Parameter store: The store.
  func storeHasSettled(_ store: StoreReference)
}

extension StoreObserver {
  public var observedEvents: StoreEvent.Kinds { .all }
}

extension StoreValueObserver {
  public func storeHasSettled(_ store: StoreReference) {}
}

// MARK: - Adding observers

extension OperationContext {
  /// The observers of the store that is being set up. A modifier adds its observer in its `setup`.
  ///
  /// ```swift
  /// func setup(context: inout OperationContext, using operation: Operation) {
  ///   context.operationObservers.append(Gauge())
  ///   operation.setup(context: &context)
  /// }
  /// ```
  ///
  /// They observe the store for its whole life, and belong to the operation: another store, or an ``OperationRunner``,
  /// that is given this context does not have them.
  public var operationObservers: [any StoreObserver] {
    get { self[OperationObserversKey.self] }
    set { self[OperationObserversKey.self] = newValue }
  }

  enum OperationObserversKey: Key {
    static let defaultValue: [any StoreObserver] = []
    static let belongsToSetup = true
  }
}

extension StoreReference {
  /// Observes the store from now on.
  ///
  /// - Parameter observer: The observer, which the store keeps.
  /// - Returns: The subscription; an empty one if the store is gone.
  public func observe(with observer: some StoreObserver) -> OperationSubscription {
    guard let runtime = self.runtime else { return .empty }
    runtime.add(StoreObserving(observer))
    return OperationSubscription { [weak runtime] in runtime?.remove(observer) }
  }

  /// The observer of a type that the store has. If there is none, adds one for the life of the store.
  ///
  /// - Parameter make: Returns the observer. Called with no lock held; if two threads make one, both get the same.
  /// - Returns: The observer; nil if the store is gone.
  public func observer<Observer: StoreObserver>(orAdd make: @Sendable () -> Observer) -> Observer? {
    self.runtime?.observer(orAdd: make)
  }
}
