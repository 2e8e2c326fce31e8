extension StoreMachine {
  /// The state that the store shows: the state with the layers applied, or the state itself without layers.
  var shownState: any StoredState { self.layeredState ?? self.state }

  /// The stamp of the value that the store shows.
  var shownStamp: ValueStamp {
    var stamp = self.state.stamp
    if self.hasLayers { stamp.isUnconfirmed = true }
    return stamp
  }

  /// Applies the layers to the state, and returns the result. Called without the lock, because layers are user code.
  func stateWithLayers() -> any StoredState {
    var state = self.state
    for layer in self.layers { layer.apply(&state) }
    self.layers.last?.didReplaceValue(&state, self.state)
    return state
  }

  /// Sets the results that the undo log uses during one change instead of calling committed layers; nil after the
  /// change.
  mutating func setLayerResults(_ results: LayerResults?) {
    if self.hasUndoLog { self.undoLog?.layerResults = results }
  }

  /// Shows a state that ``stateWithLayers()`` has returned; nil for the state without layers.
  mutating func show(_ layeredState: (any StoredState)?) {
    if self.extras != nil || layeredState != nil { self.layeredState = layeredState }
  }

  /// Adds a layer above those with smaller identifiers.
  mutating func add(_ layer: StateLayer) -> StoreChange {
    guard !self.layers.contains(where: { $0.id == layer.id }) else { return StoreChange() }
    // The new identifier is nearly always the greatest.
    let index = self.layers.lastIndex { $0.id < layer.id }.map { $0 + 1 } ?? 0
    self.layers.insert(layer, at: index)
    var change = StoreChange(isStateNew: true)
    change.addsLayer = true
    return change
  }

  /// Removes a layer.
  mutating func remove(_ id: StateLayerIdentifier, _ released: inout ReleasedValues) -> StoreChange {
    guard let index = self.layers.firstIndex(where: { $0.id == id }) else { return StoreChange() }
    released.append(self.layers.remove(at: index))
    return StoreChange(isStateNew: true)
  }

  /// Removes a layer and sets the state to `committed`, which is the state with that layer applied.
  mutating func commit(
    _ layer: StateLayer,
    _ committed: any StoredState,
    _ released: inout ReleasedValues
  ) -> StoreChange {
    guard let index = self.layers.firstIndex(where: { $0.id == layer.id }) else { return StoreChange() }
    released.append(self.layers.remove(at: index))
    self.state = committed
    self.uniqueExtras().content.uncountedChanges += 1
    self.record(.layered(layer.apply), by: nil, &released)
    return StoreChange(isStateNew: true)
  }

  /// Marks a layer to be removed when the next invalidation is answered.
  mutating func replaceWithNextInvalidation(_ id: StateLayerIdentifier) {
    guard let index = self.layers.firstIndex(where: { $0.id == id }) else { return }
    self.layers[index].replacingInvalidation = self.invalidations + 1
    // Drafts that were made before this are outdated.
    self.version += 1
  }

  /// Whether the invalidation that a layer waits for has been answered.
  func isAnswered(_ layer: StateLayer) -> Bool {
    layer.replacingInvalidation.map { $0 <= self.answeredInvalidations } ?? false
  }

  /// Marks the invalidations up to this number as answered, and removes the layers that waited for them.
  mutating func answerInvalidations(upTo invalidation: Int, _ released: inout ReleasedValues) {
    if invalidation > self.answeredInvalidations { self.answeredInvalidations = invalidation }
    if self.hasLayers { self.removeLayers(answeredBy: invalidation, &released) }
  }

  mutating func removeLayers(answeredBy invalidation: Int, _ released: inout ReleasedValues) {
    released.append(self.layers)
    self.layers.removeAll { layer in layer.replacingInvalidation.map { $0 <= invalidation } ?? false }
  }
}
