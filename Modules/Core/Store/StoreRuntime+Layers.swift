extension OperationStore where State: OverlayableState {
  /// Adds a layer above those with smaller identifiers. Does nothing when the store already has the layer.
  ///
  /// - Parameter apply: Called with no lock held each time the value beneath changes, possibly more than once for a
  ///   change.
  package func addLayer(_ id: StateLayerIdentifier, apply: @escaping @Sendable (inout State.StateValue) -> Void) {
    _ = LayerableStore(self)?.addLayer(id, over: State.self, apply: apply)
  }

  /// Removes a layer. The store shows the value beneath.
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
    // Not under the lock: a layer is user code. It is applied again when the state has changed meanwhile.
    self.commit(layer)
  }

  func removeLayerWithNextRefetch(_ id: StateLayerIdentifier) {
    self.machine.withLock { $0.replaceWithNextInvalidation(id) }
  }

  func commitAtRest(_ id: StateLayerIdentifier) {
    let observation = SubscriptionHolder()
    // Observes before the first check, so that the end of a run between the two is not missed.
    observation.store(self.observeActivity { [weak self] in self?.commitIfAtRest(id, observation) })
    self.commitIfAtRest(id, observation)
  }

  private func commitIfAtRest(_ id: StateLayerIdentifier, _ observation: SubscriptionHolder) {
    let (layer, isAtRest, isAnswered) = self.machine.withLock { machine in
      let layer = machine.layers.first { $0.id == id }
      return (layer, machine.runs.isEmpty, layer.map { machine.isAnswered($0) } ?? true)
    }
    guard isAtRest || layer == nil else { return }
    observation.cancel()
    guard let layer else { return }
    // A set value or a reset has answered the invalidation, and replaces the layer.
    if isAnswered { self.editLayers { $0.remove(id) } } else { self.commit(layer) }
  }

  func editLayers(_ edit: (inout StoreMachine<State>) -> Void) {
    self.changeBeneathLayers(OperationContext()) { machine in
      edit(&machine)
      return StoreChange()  // The machine has queued the event itself, with its own context.
    }
  }

  /// Makes the effect of a layer part of the state.
  func commit(_ layer: StateLayer<State>) {
    while true {
      let (state, version) = self.machine.withLock { ($0.state, $0.version) }
      var committed = state
      layer.apply(&committed)
      let isCommitted = self.commit(layer, committed, at: version)
      if isCommitted { return self.deliver() }
    }
  }

  private func commit(_ layer: StateLayer<State>, _ committed: State, at version: UInt64) -> Bool {
    var draft = self.machine.withLock { $0 }
    guard draft.version == version else { return false }
    draft.commit(layer, committed)
    let shown = draft.hasLayers ? draft.stateBeneathLayers() : nil
    var replaced: StoreMachine<State>.RetainedValues?
    var released: [any Sendable] = []
    let isCommitted = self.machine.withLock { machine in
      guard machine.version == version else { return false }
      replaced = machine.retainedValues
      if State.hasHistory { machine.release(machine.state) }
      machine.version += 1
      machine.show(shown)
      machine.commit(layer, committed)
      released = machine.takeReleased()
      return true
    }
    _ = consume replaced
    _ = consume released
    return isCommitted
  }
}

/// Holds a subscription, which may be cancelled before it has been stored.
private final class SubscriptionHolder: Sendable {
  private struct State {
    var subscription: OperationSubscription?
    var isCancelled = false
  }

  private let state = Locked(State())

  func store(_ subscription: OperationSubscription) {
    let isCancelled = self.state.withLock { state in
      if !state.isCancelled { state.subscription = subscription }
      return state.isCancelled
    }
    if isCancelled { subscription.cancel() }
  }

  func cancel() {
    let subscription = self.state.withLock { state in
      state.isCancelled = true
      defer { state.subscription = nil }
      return state.subscription
    }
    subscription?.cancel()
  }
}
