internal import OperationCore
internal import Synchronization

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
  typealias Store = OperationStore<Target>

  private struct WeakStore: Sendable {
    weak let value: Store?
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
  private let state = Mutex(State())

  init(
    on path: OperationPath,
    in client: OperationClient,
    apply: @escaping @Sendable (inout Target.StateValue) -> Void
  ) {
    self.apply = apply
    // First those to come, so that none is missed in between.
    let subscription = client.subscribe(matching: path, state: Target.self) { [weak self] change in
      for store in change.storesAdded { self?.cover(store) }
    }
    self.state.withLock { $0.subscription = subscription }
    for store in client.stores(matching: path, of: Target.self) { self.cover(store) }
  }

  private func cover(_ store: Store) {
    let isCovered = self.state.withLock { state in
      guard state.end == nil else { return false }
      let id = ObjectIdentifier(store)
      if let known = state.stores[id]?.value, known === store { return false }
      state.stores[id] = WeakStore(value: store)
      if state.stores.count > state.limit {
        state.stores = state.stores.filter { $0.value.value != nil }
        state.limit = max(16, 2 * state.stores.count)
      }
      return true
    }
    guard isCovered else { return }
    store.addLayer(self.id, apply: self.apply)
    // Whoever has ended the layer in the meantime has not found it there.
    switch self.state.withLock({ $0.end }) {
    case nil: break
    case .failure: store.removeLayer(self.id)
    case .success(let paths) where paths.contains { $0.isPrefix(of: store.path) }: store.removeLayer(self.id)
    case .success: store.commitLayer(self.id)
    }
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
    for store in stores { store.commitLayerAtRest(self.id) }
  }

  private func end(with end: End) -> [Store] {
    let (stores, subscription) = self.state.withLock { state in
      state.end = end
      defer { state.subscription = nil }
      return (state.stores.values.compactMap(\.value), state.subscription)
    }
    subscription?.cancel()
    return stores
  }
}
