/// A store with the type of its state erased, for adding and removing layers.
package struct LayerableStore: Sendable {
  package let store: any AnyObject & Sendable
  private let target: any ErasedLayerTarget

  /// Creates a reference to a store; nil when the object is not an ``OperationStore``.
  package init?(_ store: any AnyObject & Sendable) {
    guard let target = (store as? any ErasableStore)?.erasedRuntime as? any ErasedLayerTarget else { return nil }
    self.store = store
    self.target = target
  }

  package var path: OperationPath { self.target.path }

  /// The type of the state.
  package var stateType: any OperationState.Type { self.target.stateType }

  /// Adds a layer above those with smaller identifiers, if the state of the store is `State` or has a base of that
  /// type.
  ///
  /// Does nothing when the store already has the layer.
  ///
  /// - Parameters:
  ///   - id: The identifier of the layer.
  ///   - state: The type of the state or of one of its bases.
  ///   - apply: Changes the value. Called with no lock held each time the value below the layer changes, possibly more
  ///     than once for a change.
  /// - Returns: Whether the state of the store is `State` or has a base of that type.
  package func addLayer<State: OverlayableState & Sendable>(
    _ id: StateLayerIdentifier,
    over state: State.Type,
    apply: @escaping @Sendable (inout State.StateValue) -> Void
  ) -> Bool {
    self.target.add(id) { (state: inout State) in
      var value = state.currentValue
      apply(&value)
      state.replaceValue(with: value)
    } didReplaceValue: { (state: inout State, original: State) in
      state.didReplaceValue(inCopyOf: original)
    }
  }

  /// Removes a layer and shows the value without it.
  package func removeLayer(_ id: StateLayerIdentifier) {
    self.target.removeLayer(id)
  }

  /// Removes a layer and makes its update part of the value.
  package func commitLayer(_ id: StateLayerIdentifier) {
    self.target.commitLayer(id)
  }

  /// Removes a layer in the same step in which the refetch after the next invalidation sets its result.
  ///
  /// The refetched value replaces the layer, and the old value does not show in between. Call this method first, then
  /// invalidate the store, then call ``commitLayerAtRest(_:)``.
  package func removeLayerWithNextRefetch(_ id: StateLayerIdentifier) {
    self.target.removeLayerWithNextRefetch(id)
  }

  /// Commits a layer when no run is under way: now, or when the runs under way have ended without replacing it.
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
    didReplaceValue: @escaping @Sendable (inout Target, Target) -> Void
  ) -> Bool
  func removeLayer(_ id: StateLayerIdentifier)
  func commitLayer(_ id: StateLayerIdentifier)
  func removeLayerWithNextRefetch(_ id: StateLayerIdentifier)
  func commitAtRest(_ id: StateLayerIdentifier)
}

/// A store, accessed through its state or through a base of its state.
private protocol LayerTarget<State>: Sendable {
  associatedtype State: OperationState & Sendable

  func addLayer(
    _ id: StateLayerIdentifier,
    _ apply: @escaping @Sendable (inout State) -> Void,
    _ didReplaceValue: @escaping @Sendable (inout State, State) -> Void
  )
}

extension LayerTarget {
  fileprivate func add<Target: OperationState & Sendable>(
    _ id: StateLayerIdentifier,
    _ apply: @escaping @Sendable (inout Target) -> Void,
    didReplaceValue: @escaping @Sendable (inout Target, Target) -> Void
  ) -> Bool {
    if let target = self as? any LayerTarget<Target> {
      target.addLayer(id, apply, didReplaceValue)
      return true
    }
    guard let layered = State.self as? any LayeredOperationState.Type else { return false }
    return self.add(id, apply, didReplaceValue, ofBase: layered)
  }

  private func add<Target: OperationState & Sendable, Layered: LayeredOperationState>(
    _ id: StateLayerIdentifier,
    _ apply: @escaping @Sendable (inout Target) -> Void,
    _ didReplaceValue: @escaping @Sendable (inout Target, Target) -> Void,
    ofBase layered: Layered.Type
  ) -> Bool {
    (self as? any LayerTarget<Layered>).map {
      BaseTarget(store: $0).add(id, apply, didReplaceValue: didReplaceValue)
    } ?? false
  }
}

/// A store, accessed through the base of its state.
private struct BaseTarget<Layered: LayeredOperationState>: LayerTarget {
  let store: any LayerTarget<Layered>

  func addLayer(
    _ id: StateLayerIdentifier,
    _ apply: @escaping @Sendable (inout Layered.Base) -> Void,
    _ didReplaceValue: @escaping @Sendable (inout Layered.Base, Layered.Base) -> Void
  ) {
    self.store.addLayer(id, { apply(&$0.base) }, { didReplaceValue(&$0.base, $1.base) })
  }
}

extension StoreRuntime: LayerTarget, ErasedLayerTarget {
  fileprivate var stateType: any OperationState.Type { State.self }
}
