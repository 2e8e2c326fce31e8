public import OperationCore
internal import OperationFoundation

extension StatefulOperationRequest where State: ValueServingState {
  /// Lets each value say how long it is fresh, and how long an idle store keeps it.
  ///
  /// ```swift
  /// let search = SearchQuery("swift").keepsFor { hits in hits.isEmpty ? .seconds(1) : .seconds(3600) }
  /// ```
  ///
  /// The time is the same for both: the value is stale once it has passed since the value was set, and a client may evict
  /// the store once it has been idle for it. It takes the place of `.cacheTime(_:)`. With other rules, a value is stale
  /// when any of them says so. Without a value the state is stale, and the cache time is that of the context.
  ///
  /// It is asked of each value, whether a run has returned it, or it was set, restored or learned from a fleet.
  ///
  /// - Parameter duration: Returns the time for a value without optimistic updates. It is called with no lock held, for
  ///   each check, so compute it from the value alone. A negative duration counts as zero.
  /// - Returns: The operation, whose values decide their times.
  public func keepsFor(
    _ duration: @escaping @Sendable (State.OperationValue) -> Duration
  ) -> ContextModifiedOperation<Self> {
    self.context { context in
      context.addFreshPeriods(of: State.self) { state, _ in
        guard let value = state.servedValue, let date = state.oldestPartUpdatedAt else { return nil }
        return FreshPeriod(start: date, seconds: max(duration(value), .zero).seconds)
      }
      context.operationObservers.append(ResultCacheTime<State>(duration))
    }
    .written(".keepsFor { … }")
  }
}

/// Sets the cache time of a store by its value.
private final class ResultCacheTime<State: ValueServingState & Sendable>: StoreValueObserver {
  private let duration: @Sendable (State.OperationValue) -> Duration
  /// The cache time of the store before a value has set one.
  private let usual = Locked<Duration?>(nil)

  init(_ duration: @escaping @Sendable (State.OperationValue) -> Duration) {
    self.duration = duration
  }

  var observedEvents: StoreEvent.Kinds { [] }

  func receive(_ event: StoreEvent, of store: StoreReference) {}

  // The closure is of a user, so it is called later.
  func storeShows(_ shown: ShownState, of store: StoreReference) -> (any Sendable)? { nil }

  func storeHasSettled(_ store: StoreReference) {
    guard let store = store.store, let wanted = self.cacheTime(of: store), store.context.operationCacheTime != wanted
    else { return }
    // Exclusive access lets observers settle at its end: this one then finds the time that it wants.
    store.withExclusiveAccess { store in
      guard let wanted = self.cacheTime(of: store) else { return }
      var context = store.context
      context.operationCacheTime = wanted
      store.context = context
    }
  }

  /// The cache time for the value of a store; nil if the context has the right one.
  private func cacheTime(of store: OpaqueOperationStore) -> Duration? {
    let value = (store.stateWithoutLayers as? State)?.servedValue
    guard let value else { return self.usual.withLock { $0 } }
    let current = store.context.operationCacheTime
    self.usual.withLock { if $0 == nil { $0 = current } }
    return max(self.duration(value), .zero)
  }
}
