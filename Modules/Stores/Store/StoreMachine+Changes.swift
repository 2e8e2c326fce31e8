extension StoreMachine {
  /// Appends a change to the event queue, unless it is empty or the store has no subscribers.
  mutating func queue(
    _ change: StoreChange,
    result: RunOutcome?,
    _ context: OperationContext,
    run: OperationTaskIdentifier?,
    addressee: Subscriber? = nil
  ) {
    if self.subscribers.isEmpty || change.isEmpty { return }
    let event = QueuedEvent(
      state: change.isStateNew ? self.shownState : nil,
      result: change.bringsResult ? result : nil,
      lifecycle: change.lifecycle,
      context: context,
      run: run,
      limit: self.subscribers.nextNumber,
      addressee: addressee
    )
    self.eventQueue.append(.event(event))
  }

  /// Begins delivering events and returns the first; nil when a delivery is in progress or no event is queued.
  mutating func beginDelivery() -> Delivery? {
    self.delivery(of: self.eventQueue.begin())
  }

  /// Returns the next event of the delivery in progress. Returns nil, and ends the delivery, when no event is queued.
  mutating func nextDelivery() -> Delivery? {
    self.delivery(of: self.eventQueue.next())
  }

  private mutating func delivery(of entry: EventQueueEntry?) -> Delivery? {
    guard let entry else { return nil }
    switch entry {
    case .dismissal(let subscriber): _ = self.subscribers.remove(subscriber)
    case .retirement(_, let slot): self.subscribers.remove(slot: slot)
    case .event, .observed, .action: break
    }
    return Delivery(entry: entry, slots: self.subscribers.slots)
  }
}

// MARK: - Layers

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

// MARK: - Invalidation

extension StoreMachine {
  /// Records the invalidation with this number, unless a later one was recorded.
  ///
  /// - Returns: The record of the earlier invalidation, for the caller to release after the lock.
  mutating func invalidate(_ number: Int, _ record: InvalidationRecord) -> InvalidationRecord? {
    guard number > self.invalidations else { return nil }
    self.invalidations = number
    let extras = self.uniqueExtras()
    defer { extras.content.invalidation = record }
    return extras.content.invalidation
  }

  /// Notes what the value has seen that the state has from now on.
  ///
  /// - Parameters:
  ///   - epoch: What the value has seen.
  ///   - run: The run that can take the value back; nil for a value that stays.
  ///   - isWhole: Whether it has replaced the whole value.
  mutating func noteEpoch(
    _ epoch: InvalidationEpoch,
    of run: OperationTaskIdentifier? = nil,
    isWhole: Bool = true
  ) {
    self.valueEpoch = isWhole ? epoch : min(epoch, self.valueEpoch)
    if self.hasUndoLog { self.undoLog?.note(epoch, of: run, isWhole: isWhole) }
  }

  /// Notes that a run has set a value that began before an invalidation which another value has answered.
  ///
  /// - Returns: Whether it has: the store is invalidated again.
  mutating func noteLateValue(from invalidations: Int) -> Bool {
    guard invalidations < self.answeredInvalidations else { return false }
    self.answeredInvalidations = invalidations
    return true
  }

  /// Marks all invalidations until now as answered.
  mutating func answerInvalidations() {
    if self.isInvalidated { self.answeredInvalidations = self.invalidations }
  }

  /// The runs that began before the last invalidation and therefore do not answer it. Runs that were rolled back are
  /// left out.
  var runsBeforeInvalidation: [Run] {
    self.runs.filter { $0.isShown && $0.invalidations < self.invalidations }
  }

  /// Whether a new caller can join a run: it has not been cancelled and began after the last invalidation.
  func canServe(_ run: Run) -> Bool {
    run.isShown && run.invalidations >= self.invalidations && run.task.sharedRun.isAlive
  }

  /// Whether a new caller can join the run at an index.
  // Inside a closure over a machine, `canServe(machine.runs[index])` would copy the run.
  func canServeRun(at index: Int) -> Bool { self.canServe(self.runs[index]) }

  /// Whether a new caller can join a run and the run replaces the whole value when it succeeds.
  func canRefresh(_ run: Run) -> Bool { self.canServe(run) && self.state.isReplaced(by: run.task) }

  /// Rolls back the runs that replace the whole value and began before the last answered invalidation.
  mutating func rollBackOutdatedRuns(_ released: inout ReleasedValues) {
    let answered = self.answeredInvalidations
    guard answered > 0 else { return }
    for run in self.runs
    where run.isShown && run.invalidations < answered && self.state.isReplaced(by: run.task) {
      _ = self.rollBack(run.id, &released)
    }
  }
}
