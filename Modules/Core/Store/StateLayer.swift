import Synchronization

/// An update that is laid over the state of a store without becoming part of it.
struct StateLayer<State: OperationState & Sendable>: Sendable {
  let id: StateLayerIdentifier
  let apply: @Sendable (inout State) -> Void
  /// The invalidation whose answer brings what the layer shows: the layer goes with it.
  var replacingInvalidation: Int?
}

/// Names one layer, which may lie over any number of stores.
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
    let layer = StateLayer<State>(id: id) { state in
      var value = state.currentValue
      apply(&value)
      state.replaceValue(with: value)
    }
    self.runtime.editLayers { $0.add(layer) }
  }

  /// Takes a layer off: the store shows what is beneath.
  package func removeLayer(_ id: StateLayerIdentifier) {
    self.runtime.editLayers { $0.remove(id) }
  }

  /// Makes what a layer shows part of the value beneath.
  package func commitLayer(_ id: StateLayerIdentifier) {
    let layer = self.runtime.machine.withLock { $0.layers.first { $0.id == id } }
    guard let layer else { return }
    // Applied outside the lock, and again when the value has changed by then.
    self.runtime.commit(layer)
  }

  /// Takes a layer off together with the arrival of what was asked for by the store's last invalidation.
  package func removeLayerWhenRefetched(_ id: StateLayerIdentifier) {
    self.runtime.machine.withLock { $0.replaceWithLastInvalidation(id) }
  }
}

extension OperationStore {
  /// Waits until no run is under way, or the current task is cancelled.
  package func settled() async {
    await self.runtime.settled()
  }
}
