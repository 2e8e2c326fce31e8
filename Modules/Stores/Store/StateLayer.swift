/// An update that a store shows on top of its state without making it part of the state.
struct StateLayer: Sendable {
  let id: StateLayerIdentifier
  /// The name of the operation that has added the layer for a call; nil if it is unknown.
  var author: String?
  /// Applies the update.
  let apply: @Sendable (inout any StoredState) -> Void
  /// Passes the state without layers, the second parameter, to the state with all layers.
  let didReplaceValue: @Sendable (inout any StoredState, any StoredState) -> Void
  /// The layer is removed when an invalidation with this number or a greater one is answered; nil to keep it.
  var replacingInvalidation: Int?
}

extension OperationStore where State: OverlayableState {
  /// Adds a layer above those with smaller identifiers, unless the store already has the layer.
  ///
  /// - Parameters:
  ///   - id: The identifier of the layer.
  ///   - apply: Changes the value. Called with no lock held each time the value below the layer changes, possibly more
  ///     than once for a change.
  package func addLayer(_ id: StateLayerIdentifier, apply: @escaping @Sendable (inout State.StateValue) -> Void) {
    _ = OpaqueOperationStore(erasing: self).addLayer(id, over: State.self, apply: apply)
  }

  /// Removes a layer and shows the value without it.
  package func removeLayer(_ id: StateLayerIdentifier) {
    self.runtime.removeLayer(id)
  }
}

extension StoreRuntime {
  /// Adds a layer above those with smaller identifiers, unless the store already has the layer.
  func addLayer(
    _ id: StateLayerIdentifier,
    by author: String?,
    _ apply: @escaping @Sendable (inout any StoredState) -> Void,
    _ didReplaceValue: @escaping @Sendable (inout any StoredState, any StoredState) -> Void
  ) {
    let layer = StateLayer(id: id, author: author, apply: apply, didReplaceValue: didReplaceValue)
    self.editLayers(.layerAdded, by: author) { machine, _ in machine.add(layer) }
  }

  /// Removes a layer and shows the state without it.
  func removeLayer(_ id: StateLayerIdentifier) {
    let author = self.isWatched(.writes) ? self.layer(id)?.author : nil
    self.editLayers(.layerRemoved, by: author) { $0.remove(id, &$1) }
  }

  /// The cause of a change of the layers.
  private static func cause(_ author: String?) -> OperationRunCause {
    author.map { OperationRunCause(.operation($0)) } ?? .ofCurrentCode()
  }

  private func layer(_ id: StateLayerIdentifier) -> StateLayer? {
    self.withMachine { $0.layers.first { $0.id == id } }
  }

  /// Removes a layer and makes its effect part of the state.
  func commitLayer(_ id: StateLayerIdentifier) {
    guard let layer = self.layer(id) else { return }
    self.commit(layer)
  }

  /// Removes a layer in the same step in which the next invalidation is answered.
  func removeLayerWithNextRefetch(_ id: StateLayerIdentifier) {
    self.withMachine { $0.replaceWithNextInvalidation(id) }
  }

  /// Commits a layer when no run is under way: see ``OpaqueOperationStore/commitLayerAtRest(_:)``.
  func commitAtRest(_ id: StateLayerIdentifier) {
    let observation = Locked(SubscriptionSlot())
    let number = observation.withLock { $0.reserve() }
    // The observer is added before the first check, so that the end of a run between the two is not missed.
    let subscription = self.observeActivity { [weak self] in self?.commitIfAtRest(id, observation) }
    observation.withLock { $0.keep(subscription, number: number) }?.cancel()
    self.commitIfAtRest(id, observation)
  }

  private func commitIfAtRest(_ id: StateLayerIdentifier, _ observation: borrowing Locked<SubscriptionSlot>) {
    let (layer, isAtRest, isAnswered) = self.withMachine { machine in
      let layer = machine.layers.first { $0.id == id }
      return (layer, machine.runs.isEmpty, layer.map { machine.isAnswered($0) } ?? true)
    }
    guard isAtRest || layer == nil else { return }
    observation.withLock { $0.clear() }?.cancel()
    guard let layer else { return }
    // A set value or a reset has answered the invalidation, and replaces the layer.
    if isAnswered {
      self.editLayers(.layerRemoved, by: layer.author) { $0.remove(id, &$1) }
    } else {
      self.commit(layer)
    }
  }

  private func editLayers(
    _ write: StoreEvent.StateWrite,
    by author: String?,
    _ edit: (inout StoreMachine, inout StoreMachine.ReleasedValues) -> StoreChange
  ) {
    let context = self.context
    self.changeBelowLayers(context, event: .stateWritten(write), by: Self.cause(author), edit)
  }

  /// Removes a layer and makes its effect part of the state.
  ///
  /// A layer is user code and so is not called with the lock held. It is called again if the state has changed
  /// meanwhile.
  private func commit(_ layer: StateLayer) {
    while true {
      let (state, version) = self.withMachine { ($0.state, $0.version) }
      var committed = state
      layer.apply(&committed)
      let isCommitted = self.commit(layer, committed, at: version)
      guard isCommitted else { continue }
      return self.deliver()
    }
  }

  /// Sets the committed state, unless the machine has another version by now.
  private func commit(_ layer: StateLayer, _ committed: any StoredState, at version: UInt64) -> Bool {
    var draft = self.withMachine { $0.draft() }
    guard draft.version == version else { return false }
    var released = StoreMachine.ReleasedValues()
    _ = draft.commit(layer, committed, &released)
    let shown = draft.hasLayers ? draft.stateWithLayers() : nil
    return self.change(at: version, showing: shown) { machine, released in
      let change = machine.commit(layer, committed, &released)
      let context = machine.context
      machine.queue(change, result: nil, context, run: nil)
      if self.isWatched(.all) {
        let cause = Self.cause(layer.author)
        let activity = machine.reportedActivity
        let event = StoreEvent.What.stateWritten(.layerCommitted)
        self.queueEvents(of: change, event, context, run: nil, by: cause, since: activity, &machine)
      }
      return change
    }
  }
}
