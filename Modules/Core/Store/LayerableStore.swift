/// A store that layers can be added to, whatever the type of its state.
package struct LayerableStore: Sendable {
  package let store: any AnyObject & Sendable
  private let target: any ErasedLayerTarget

  /// Returns nil when the object is not an ``OperationStore``.
  package init?(_ store: any AnyObject & Sendable) {
    guard let target = (store as? any RuntimeHolder)?.erasedRuntime as? any ErasedLayerTarget else { return nil }
    self.store = store
    self.target = target
  }

  package var path: OperationPath { self.target.path }

  /// The type of the state.
  package var stateType: any OperationState.Type { self.target.stateType }

  /// Adds a layer above those with smaller identifiers, if the state of the store is `State` or has a base of that type.
  ///
  /// Does nothing when the store already has the layer.
  ///
  /// - Parameter apply: Called with no lock held each time the value beneath changes, possibly more than once for a
  ///   change.
  /// - Returns: Whether the store has a state of type `State`.
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

  /// Removes a layer. The store shows the value beneath.
  package func removeLayer(_ id: StateLayerIdentifier) {
    self.target.removeLayer(id)
  }

  /// Removes a layer and applies its update to the value beneath.
  package func commitLayer(_ id: StateLayerIdentifier) {
    self.target.commitLayer(id)
  }

  /// Removes a layer in the same step in which the refetch that the next invalidation causes sets its result.
  ///
  /// The refetched value replaces the layer without the old value showing in between. Call the invalidation and then
  /// ``commitLayerAtRest(_:)`` afterwards.
  package func removeLayerWithNextRefetch(_ id: StateLayerIdentifier) {
    self.target.removeLayerWithNextRefetch(id)
  }

  /// Commits a layer when no run is under way: now, or when the current runs have ended without replacing it.
  ///
  /// Removes the layer instead when a set value or a reset has answered the invalidation that the layer waits for.
  package func commitLayerAtRest(_ id: StateLayerIdentifier) {
    self.target.commitAtRest(id)
  }
}

/// The part of ``LayerTarget`` that does not depend on the type of its state.
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

/// A store, accessed through the type of its state or through the type of that state's base.
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

/// A store, accessed through the base of its state.
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
