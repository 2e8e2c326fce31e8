// Layers of optimistic updates, for modules that show what a call is about to change.
extension OpaqueOperationStore {
  /// Adds a layer above those with smaller identifiers, if the state of the store is `State` or has a base of that
  /// type.
  ///
  /// Does nothing when the store already has the layer.
  ///
  /// - Parameters:
  ///   - id: The identifier of the layer.
  ///   - state: The type of the state or of one of its bases.
  ///   - author: The name of the operation whose call it shows; nil if it is unknown.
  ///   - apply: Changes the value. Called with no lock held each time the value below the layer changes, possibly more
  ///     than once for a change.
  /// - Returns: Whether the state of the store is `State` or has a base of that type.
  public func addLayer<State: OverlayableState & Sendable>(
    _ id: StateLayerIdentifier,
    over state: State.Type,
    by author: String? = nil,
    apply: @escaping @Sendable (inout State.StateValue) -> Void
  ) -> Bool {
    func projection<Stored: OperationState & Sendable>(of stored: Stored) -> StateProjection<State>? {
      StateProjection(from: Stored.self)
    }
    let stored = self.runtime.stateWithoutLayers.typed
    guard let projection = projection(of: stored) else { return false }
    self.runtime.addLayer(id, by: author) { stored in
      projection.edit(&stored) { state in
        var value = state.currentValue
        apply(&value)
        state.replaceValue(with: value)
      }
    } _: { stored, original in
      let original = projection.state(in: original)
      projection.edit(&stored) { $0.didReplaceValue(inCopyOf: original) }
    }
    return true
  }

  /// Removes a layer and shows the value without it.
  public func removeLayer(_ id: StateLayerIdentifier) {
    self.runtime.removeLayer(id)
  }

  /// Removes a layer and makes its update part of the value.
  public func commitLayer(_ id: StateLayerIdentifier) {
    self.runtime.commitLayer(id)
  }

  /// Removes a layer in the same step in which the refetch after the next invalidation sets its result.
  ///
  /// The refetched value replaces the layer, and the old value does not show in between. Call this method first, then
  /// invalidate the store, then call ``commitLayerAtRest(_:)``.
  public func removeLayerWithNextRefetch(_ id: StateLayerIdentifier) {
    self.runtime.removeLayerWithNextRefetch(id)
  }

  /// Commits a layer when no run is under way: now, or when the runs under way have ended without replacing it.
  ///
  /// Removes the layer instead when a set value or a reset has answered the invalidation that the layer waits for.
  public func commitLayerAtRest(_ id: StateLayerIdentifier) {
    self.runtime.commitAtRest(id)
  }
}
