internal import OperationCore

/// One update in all matching stores of a client, until its call has ended.
///
/// It refers to the stores weakly: a store that is released releases its layer.
final class OptimisticLayer<Target: OverlayableState & Sendable>: EffectLayer {
  private enum End {
    case failure
    case success(invalidating: InvalidatedStores)
  }

  private struct State {
    var stores: [ObjectIdentifier: StoreReference] = [:]
    /// The number of stores above which the released ones are removed.
    var pruningThreshold = 16
    var end: End?
    var subscription: OperationSubscription?
  }

  private let id: StateLayerIdentifier
  /// The name of the mutation; nil if it is unknown.
  private let author: String?
  private let apply: @Sendable (inout Target.StateValue) -> Void
  private let state = Locked(State())

  init(
    on path: OperationPath,
    in client: OperationClient,
    at place: StateLayerPlace? = nil,
    by author: String? = nil,
    apply: @escaping @Sendable (inout Target.StateValue) -> Void
  ) {
    self.id = StateLayerIdentifier(at: place)
    self.author = author
    self.apply = apply
    // Subscribed to new stores first, so that no store is missed between the two calls.
    let subscription = client.subscribe(matching: path) { [weak self] change in
      for store in change.storesAdded { _ = self?.add(to: store) }
    }
    self.state.withLock { $0.subscription = subscription }
    let stores = client.stores(matching: path)
    var isAdded = false
    for store in stores where self.add(to: store) { isAdded = true }
    if !isAdded, let store = stores.first { Self.reportMismatch(of: store, matching: path) }
    #if DEBUG
      if stores.isEmpty { UnmatchedPaths.check(path, as: "updates", by: author, in: client) }
    #endif
  }

  private static func reportMismatch(of store: OpaqueOperationStore, matching path: OperationPath) {
    let stateType = type(of: store.stateWithoutLayers)
    OperationWarning(
      code: .stateMismatch,
      message: """
        An optimistic update on \(ShownText.of(path)) is not shown: it changes the state \(Target.self), and no store \
        there has that state. The store at \(ShownText.of(store.path)) has the state \(stateType). Pass `of: \
        \(stateType).self`, or the path of the stores to update.
        """
    ).report()
  }

  /// Adds the update to a store. Returns false if the store has another state.
  private func add(to store: OpaqueOperationStore) -> Bool {
    let isDue = self.state.withLock { state, released in
      guard state.end == nil else { return false }
      let reference = store.reference
      guard state.stores.updateValue(reference, forKey: ObjectIdentifier(reference)) == nil else { return false }
      if state.stores.count > state.pruningThreshold {
        state.stores = state.stores.filter { entry in
          // It may have become the last reference, which is released after unlocking.
          let store = entry.value.store
          released.append(store)
          return store != nil
        }
        state.pruningThreshold = max(16, 2 * state.stores.count)
      }
      return true
    }
    guard isDue else { return true }
    guard store.addLayer(self.id, over: Target.self, by: self.author, apply: self.apply) else {
      self.state.withLock { $0.stores[ObjectIdentifier(store.reference)] = nil }
      return false
    }
    // If the layer has ended meanwhile, the end did not find it in this store.
    switch self.state.withLock({ $0.end }) {
    case nil: break
    case .failure: store.removeLayer(self.id)
    case .success(let stores) where stores.contains(store.path): store.removeLayer(self.id)
    case .success: store.commitLayer(self.id)
    }
    return true
  }

  func fail() {
    for store in self.end(with: .failure) { store.removeLayer(self.id) }
    self.state.withLock { $0.stores = [:] }
  }

  func succeed(invalidating stores: InvalidatedStores) {
    for store in self.end(with: .success(invalidating: stores)) {
      if stores.contains(store.path) {
        store.removeLayerWithNextRefetch(self.id)
      } else {
        store.commitLayer(self.id)
      }
    }
  }

  func commitAtRest() {
    let stores = self.state.withLock { state in
      defer { state.stores = [:] }
      return Array(state.stores.values)
    }
    for store in stores.compactMap(\.store) { store.commitLayerAtRest(self.id) }
  }

  private func end(with end: End) -> [OpaqueOperationStore] {
    let (stores, subscription) = self.state.withLock { state, released in
      released.append(state.end)
      state.end = end
      return (Array(state.stores.values), state.subscription.take())
    }
    subscription?.cancel()
    return stores.compactMap(\.store)
  }
}
