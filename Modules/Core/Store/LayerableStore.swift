/// A store of whatever state, as what layers are laid over.
package struct LayerableStore: Sendable {
  package let store: any AnyObject & Sendable
  private let target: any ErasedLayerTarget

  /// Sees a store; nil when the object is none.
  package init?(_ store: any AnyObject & Sendable) {
    guard let target = (store as? any RuntimeHolder)?.erasedRuntime as? any ErasedLayerTarget else { return nil }
    self.store = store
    self.target = target
  }

  package var path: OperationPath { self.target.path }

  /// The type of the state.
  package var stateType: any OperationState.Type { self.target.stateType }

  /// Lays an update over the store where its state is `State` or shows one in its own way, on top of those that are there.
  /// Does nothing when the layer is there already.
  ///
  /// - Parameter apply: Called whenever the value beneath changes, while no lock is held, perhaps more than once.
  /// - Returns: Whether the store has such a state.
  package func addLayer<State: OverlayableState & Sendable>(
    _ id: StateLayerIdentifier,
    over state: State.Type,
    apply: @escaping @Sendable (inout State.StateValue) -> Void
  ) -> Bool {
    self.target.add(id) { (state: inout State) in
      var value = state.currentValue
      apply(&value)
      state.replaceValue(with: value)
    } noteStateBeneath: { (state: inout State, beneath: State) in
      state.noteStateBeneath(beneath)
    }
  }

  /// Takes a layer off: the store shows what is beneath.
  package func removeLayer(_ id: StateLayerIdentifier) {
    self.target.removeLayer(id)
  }

  /// Makes what a layer shows part of the value beneath.
  package func commitLayer(_ id: StateLayerIdentifier) {
    self.target.commitLayer(id)
  }

  /// Takes a layer off together with the arrival of what the store's next invalidation asks for: the layer is replaced by
  /// what it stood for, in one step. Follow it with the invalidation and ``commitLayerAtRest(_:)``.
  package func removeLayerWithNextRefetch(_ id: StateLayerIdentifier) {
    self.target.removeLayerWithNextRefetch(id)
  }

  /// Makes what a layer shows part of the value beneath when no run is under way that may bring it: now, or when the runs
  /// that are have ended without.
  package func commitLayerAtRest(_ id: StateLayerIdentifier) {
    self.target.commitAtRest(id)
  }
}

extension OperationClient {
  /// The stores at paths that start with `path`.
  package func layerableStores(matching path: OperationPath) -> [LayerableStore] {
    self.storage.runtimes(matching: path).compactMap { $0.erasedStore.flatMap { LayerableStore($0) } }
  }

  /// Tells of the stores that come to paths that start with `path`.
  package func watchLayerableStores(
    matching path: OperationPath,
    onAdded: @escaping @Sendable (LayerableStore) -> Void
  ) -> OperationSubscription {
    self.storage.watch(path) { change in
      for store in change.added.compactMap({ LayerableStore($0.store) }) { onAdded(store) }
    }
  }
}

/// What of a ``LayerTarget`` does not depend on its state.
private protocol ErasedLayerTarget: Sendable {
  var path: OperationPath { get }
  var stateType: any OperationState.Type { get }

  func add<Target: OperationState & Sendable>(
    _ id: StateLayerIdentifier,
    _ apply: @escaping @Sendable (inout Target) -> Void,
    noteStateBeneath: @escaping @Sendable (inout Target, Target) -> Void
  ) -> Bool
  func removeLayer(_ id: StateLayerIdentifier)
  func commitLayer(_ id: StateLayerIdentifier)
  func removeLayerWithNextRefetch(_ id: StateLayerIdentifier)
  func commitAtRest(_ id: StateLayerIdentifier)
}

/// A store, seen through the type of its state or of a base of that.
private protocol LayerTarget<State>: Sendable {
  associatedtype State: OperationState & Sendable

  func addLayer(
    _ id: StateLayerIdentifier,
    _ apply: @escaping @Sendable (inout State) -> Void,
    _ noteStateBeneath: @escaping @Sendable (inout State, State) -> Void
  )
}

extension LayerTarget {
  fileprivate func add<Target: OperationState & Sendable>(
    _ id: StateLayerIdentifier,
    _ apply: @escaping @Sendable (inout Target) -> Void,
    noteStateBeneath: @escaping @Sendable (inout Target, Target) -> Void
  ) -> Bool {
    if let target = self as? any LayerTarget<Target> {
      target.addLayer(id, apply, noteStateBeneath)
      return true
    }
    guard let layer = State.self as? any LayeredOperationState.Type else { return false }
    return self.add(id, apply, noteStateBeneath, beneath: layer)
  }

  private func add<Target: OperationState & Sendable, Layer: LayeredOperationState>(
    _ id: StateLayerIdentifier,
    _ apply: @escaping @Sendable (inout Target) -> Void,
    _ noteStateBeneath: @escaping @Sendable (inout Target, Target) -> Void,
    beneath layer: Layer.Type
  ) -> Bool {
    (self as? any LayerTarget<Layer>).map {
      BaseTarget(layer: $0).add(id, apply, noteStateBeneath: noteStateBeneath)
    } ?? false
  }
}

/// A store seen through the base of its state.
private struct BaseTarget<Layer: LayeredOperationState>: LayerTarget {
  let layer: any LayerTarget<Layer>

  func addLayer(
    _ id: StateLayerIdentifier,
    _ apply: @escaping @Sendable (inout Layer.Base) -> Void,
    _ noteStateBeneath: @escaping @Sendable (inout Layer.Base, Layer.Base) -> Void
  ) {
    self.layer.addLayer(id, { apply(&$0.base) }, { noteStateBeneath(&$0.base, $1.base) })
  }
}

extension StoreRuntime: LayerTarget, ErasedLayerTarget {
  fileprivate var stateType: any OperationState.Type { State.self }
}
