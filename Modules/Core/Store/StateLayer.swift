internal import Synchronization

/// An update that is laid over the state of a store without becoming part of it.
@usableFromInline
struct StateLayer<State: OperationState & Sendable>: Sendable {
  let id: StateLayerIdentifier
  let apply: @Sendable (inout State) -> Void
  /// Tells a state that all layers were applied to what is beneath them.
  let noteStateBeneath: @Sendable (inout State, State) -> Void
  /// The invalidation whose answer brings what the layer shows: the layer goes with it.
  var replacingInvalidation: Int?
}

/// Names one layer, which may lie over any number of stores.
@usableFromInline
package struct StateLayerIdentifier: Hashable, Sendable {
  private static let last = Atomic<UInt64>(0)
  private let rawValue: UInt64

  package init() {
    self.rawValue = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
  }
}

extension OperationStore where State: OverlayableState {
  /// Lays an update over the value that the store shows, on top of those that are there. Does nothing when the layer is
  /// there already.
  ///
  /// - Parameter apply: Called whenever the value beneath changes, while no lock is held, perhaps more than once.
  package func addLayer(_ id: StateLayerIdentifier, apply: @escaping @Sendable (inout State.StateValue) -> Void) {
    _ = LayerableStore(self)?.addLayer(id, over: State.self, apply: apply)
  }

  /// Takes a layer off: the store shows what is beneath.
  package func removeLayer(_ id: StateLayerIdentifier) {
    self.runtime.removeLayer(id)
  }
}

extension StoreRuntime {
  func addLayer(
    _ id: StateLayerIdentifier,
    _ apply: @escaping @Sendable (inout State) -> Void,
    _ noteStateBeneath: @escaping @Sendable (inout State, State) -> Void
  ) {
    self.editLayers { $0.add(StateLayer(id: id, apply: apply, noteStateBeneath: noteStateBeneath)) }
  }

  func removeLayer(_ id: StateLayerIdentifier) {
    self.editLayers { $0.remove(id) }
  }

  func commitLayer(_ id: StateLayerIdentifier) {
    let layer = self.machine.withLock { $0.layers.first { $0.id == id } }
    guard let layer else { return }
    // Applied outside the lock, and again when the value has changed by then.
    self.commit(layer)
  }

  func removeLayerWithNextRefetch(_ id: StateLayerIdentifier) {
    self.machine.withLock { $0.replaceWithNextInvalidation(id) }
  }

  func commitAtRest(_ id: StateLayerIdentifier) {
    let watch = RestWatch()
    // Before the first look, so that no end of a run is missed between the two.
    watch.keep(self.observeActivity { [weak self] in self?.commitIfAtRest(id, watch) })
    self.commitIfAtRest(id, watch)
  }

  private func commitIfAtRest(_ id: StateLayerIdentifier, _ watch: RestWatch) {
    let (layer, isAtRest, isAnswered) = self.machine.withLock { machine in
      let layer = machine.layers.first { $0.id == id }
      return (layer, machine.runs.isEmpty, layer.map { machine.isAnswered($0) } ?? true)
    }
    guard isAtRest || layer == nil else { return }
    watch.end()
    guard let layer else { return }
    // A value that was set, or a reset, has taken the place of what was asked for.
    if isAnswered { self.editLayers { $0.remove(id) } } else { self.commit(layer) }
  }
}

/// Keeps an observer of a store until it has seen what it waits for.
private final class RestWatch: Sendable {
  private struct State {
    var subscription: OperationSubscription?
    var isOver = false
  }

  private let state = Locked(State())

  func keep(_ subscription: OperationSubscription) {
    let isOver = self.state.withLock { state in
      if !state.isOver { state.subscription = subscription }
      return state.isOver
    }
    if isOver { subscription.cancel() }
  }

  func end() {
    let subscription = self.state.withLock { state in
      state.isOver = true
      defer { state.subscription = nil }
      return state.subscription
    }
    subscription?.cancel()
  }
}

extension OperationStore {
  /// Waits until no run is under way, or the current task is cancelled.
  package func settled() async {
    await self.runtime.settled()
  }
}
