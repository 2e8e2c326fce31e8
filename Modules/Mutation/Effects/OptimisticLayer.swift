internal import OperationCore

/// An update that lies over any number of stores.
protocol EffectLayer: Sendable {
  /// Takes the layer off.
  func fail()

  /// Makes the layer part of the values, except in stores below `paths`: there it goes with the next refetch.
  func succeed(invalidating paths: [OperationPath])

  /// Called after the invalidation: makes the layer part of the values for which no refetch is under way, or comes to
  /// its end without bringing one.
  func commitAtRest()
}

/// One update over all matching stores of a client, until its call has ended.
///
/// It refers to the stores weakly: a store that goes takes its layer along.
final class OptimisticLayer<Target: OverlayableState & Sendable>: EffectLayer {
  private struct WeakStore: Sendable {
    weak let value: (any AnyObject & Sendable)?
  }

  private enum End {
    case failure
    case success(invalidating: [OperationPath])
  }

  private struct State {
    var stores: [ObjectIdentifier: WeakStore] = [:]
    /// With how many stores to look for those that are gone.
    var limit = 16
    var end: End?
    var subscription: OperationSubscription?
  }

  private let id = StateLayerIdentifier()
  private let apply: @Sendable (inout Target.StateValue) -> Void
  private let state = Locked(State())

  init(
    on path: OperationPath,
    in client: OperationClient,
    apply: @escaping @Sendable (inout Target.StateValue) -> Void
  ) {
    self.apply = apply
    // First those to come, so that none is missed in between.
    let subscription = client.watchLayerableStores(matching: path) { [weak self] store in _ = self?.cover(store) }
    self.state.withLock { $0.subscription = subscription }
    let stores = client.layerableStores(matching: path)
    var isOverAny = false
    for store in stores where self.cover(store) { isOverAny = true }
    if !isOverAny, let store = stores.first { Self.reportMismatch(of: store, matching: path) }
  }

  private static func reportMismatch(of store: LayerableStore, matching path: OperationPath) {
    OperationWarning(
      code: .stateMismatch,
      message: """
        An optimistic update on \(path) is for stores with the state \(Target.self), and none of those that are there has \
        it: the one at \(store.path) has the state \(store.stateType). The update shows in none of them. Pass \
        `of: \(store.stateType).self`, or the path of the stores that it is for.
        """
    ).report()
  }

  /// Lays the update over a store. False when its state is another one.
  private func cover(_ store: LayerableStore) -> Bool {
    let isDue = self.state.withLock { state, released in
      guard state.end == nil else { return false }
      let id = ObjectIdentifier(store.store)
      if state.stores[id]?.value === store.store { return false }
      state.stores[id] = WeakStore(value: store.store)
      if state.stores.count > state.limit {
        state.stores = state.stores.filter { entry in
          // It may be the last reference.
          let value = entry.value.value
          released.append(value)
          return value != nil
        }
        state.limit = max(16, 2 * state.stores.count)
      }
      return true
    }
    guard isDue else { return true }
    guard store.addLayer(self.id, over: Target.self, apply: self.apply) else {
      self.state.withLock { $0.stores[ObjectIdentifier(store.store)] = nil }
      return false
    }
    // Whoever has ended the layer in the meantime has not found it there.
    switch self.state.withLock({ $0.end }) {
    case nil: break
    case .failure: store.removeLayer(self.id)
    case .success(let paths) where paths.contains { $0.isPrefix(of: store.path) }: store.removeLayer(self.id)
    case .success: store.commitLayer(self.id)
    }
    return true
  }

  func fail() {
    for store in self.end(with: .failure) { store.removeLayer(self.id) }
    self.state.withLock { $0.stores = [:] }
  }

  func succeed(invalidating paths: [OperationPath]) {
    for store in self.end(with: .success(invalidating: paths)) {
      if paths.contains(where: { $0.isPrefix(of: store.path) }) {
        store.removeLayerWithNextRefetch(self.id)
      } else {
        store.commitLayer(self.id)
      }
    }
  }

  func commitAtRest() {
    let stores = self.state.withLock { state in
      defer { state.stores = [:] }
      return state.stores.values.compactMap(\.value)
    }
    for store in stores.compactMap({ LayerableStore($0) }) { store.commitLayerAtRest(self.id) }
  }

  private func end(with end: End) -> [LayerableStore] {
    let (stores, subscription) = self.state.withLock { state, released in
      released.append(state.end)
      state.end = end
      return (state.stores.values.compactMap(\.value), state.subscription.take())
    }
    subscription?.cancel()
    return stores.compactMap { LayerableStore($0) }
  }
}
