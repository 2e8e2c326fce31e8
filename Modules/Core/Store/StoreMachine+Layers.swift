extension StoreMachine {
  /// What the store shows.
  @inlinable
  var shownState: State { self.layeredState ?? self.state }

  /// What the layers make of the state. They are foreign code: not to be called under the lock.
  func stateBeneathLayers() -> State {
    var state = self.state
    for layer in self.layers { layer.apply(&state) }
    self.layers.last?.noteStateBeneath(&state, self.state)
    return state
  }

  /// What replays the layers that have become part of the value, for one change.
  mutating func setLayerResults(_ results: LayerResults<State>?) {
    if self.hasUndoLog { self.undoLog?.layerResults = results }
  }

  /// Shows a state that ``stateBeneathLayers()`` has made, or the plain one when it is nil.
  mutating func show(_ layeredState: State?) {
    if self.extras != nil || layeredState != nil { self.layeredState = layeredState }
  }

  mutating func add(_ layer: StateLayer<State>) {
    guard !self.layers.contains(where: { $0.id == layer.id }) else { return }
    self.layers.append(layer)
    self.queue(StoreChange(isStateNew: true), result: nil, self.context, run: nil)
  }

  mutating func remove(_ id: StateLayerIdentifier) {
    guard let index = self.layers.firstIndex(where: { $0.id == id }) else { return }
    self.release(self.layers.remove(at: index))
    self.queue(StoreChange(isStateNew: true), result: nil, self.context, run: nil)
  }

  /// Makes what a layer shows part of the state.
  mutating func commit(_ layer: StateLayer<State>, _ committed: State) {
    guard let index = self.layers.firstIndex(where: { $0.id == layer.id }) else { return }
    self.release(self.layers.remove(at: index))
    self.state = committed
    self.note(.layered(layer.apply), by: nil)
    self.queue(StoreChange(isStateNew: true), result: nil, self.context, run: nil)
  }

  mutating func replaceWithNextInvalidation(_ id: StateLayerIdentifier) {
    guard let index = self.layers.firstIndex(where: { $0.id == id }) else { return }
    self.layers[index].replacingInvalidation = self.invalidations + 1
    // A draft that was made before does not know it.
    self.version += 1
  }

  /// Whether a value has come since that makes up for what a layer waits for.
  func isAnswered(_ layer: StateLayer<State>) -> Bool {
    layer.replacingInvalidation.map { $0 <= self.answeredInvalidations } ?? false
  }

  @inlinable
  mutating func answerInvalidations(upTo invalidation: Int) {
    if invalidation > self.answeredInvalidations { self.answeredInvalidations = invalidation }
    if self.hasLayers { self.removeLayers(answeredBy: invalidation) }
  }

  @usableFromInline
  mutating func removeLayers(answeredBy invalidation: Int) {
    self.release(self.layers)
    self.layers.removeAll { layer in layer.replacingInvalidation.map { $0 <= invalidation } ?? false }
  }
}
