extension StoreRuntime {
  /// Makes a change under the lock, and tells of it after.
  ///
  /// - Parameters:
  ///   - context: What is told with it; asked for after the change.
  ///   - run: The run that makes the change, if one does.
  ///   - result: The result that the change brings, if its change say so.
  ///   - replacesValue: False where the change leaves the value and the error as they are.
  ///   - body: Changes the machine and nothing else: beneath layers it is carried out more than once.
  @inlinable
  func change(
    _ context: @autoclosure () -> OperationContext,
    run: OperationTaskIdentifier? = nil,
    result: Result<State.OperationValue, State.Failure>? = nil,
    replacesValue: Bool = true,
    _ body: (inout StoreMachine<State>) -> StoreChange
  ) {
    var change = StoreChange()
    var recipients: Recipients<State>?
    var state: State?
    // A deinitializer is foreign code as well: what the change has replaced goes after the lock.
    var replaced: StoreMachine<State>.RetainedValues?
    var released: [any Sendable] = []
    let mayDeliver = !self.machine.isOwnedByCurrentThread
    let isMade = self.machine.withLock { machine in
      guard !machine.callsLayers else { return false }
      if replacesValue { replaced = machine.retainedValues }
      if State.hasHistory { machine.release(machine.state) }
      machine.version += 1
      change = body(&machine)
      recipients = machine.recipients(of: change, result: result, context(), run: run, mayDeliver: mayDeliver)
      if change.isStateNew, recipients != nil { state = machine.shownState }
      if machine.extras != nil { released = machine.takeReleased() }
      return true
    }
    if !mayDeliver { self.deferRelease(of: replaced) }
    _ = consume replaced
    _ = consume released
    if !isMade { self.changeBeneathLayers(context(), run: run, result: result, body) }
    guard let recipients else { return }
    recipients.receive(
      state: state,
      result: change.bringsResult ? result : nil,
      lifecycle: change.lifecycle,
      context(),
      run: run
    )
    self.endDelivery()
  }

  /// Makes a change that may alter what the layers make of the state.
  ///
  /// The layers are user code, so they are applied to a draft of the change outside the lock, those included that have
  /// become part of the value and are replayed; the change is made when nothing else has changed by then.
  @usableFromInline
  func changeBeneathLayers(
    _ context: @autoclosure () -> OperationContext,
    run: OperationTaskIdentifier? = nil,
    result: Result<State.OperationValue, State.Failure>? = nil,
    _ body: (inout StoreMachine<State>) -> StoreChange
  ) {
    while true {
      var draft = self.machine.withLock { $0 }
      let version = draft.version
      let results = LayerResults<State>()
      draft.setLayerResults(results)
      _ = body(&draft)
      let shown = draft.hasLayers ? draft.stateBeneathLayers() : nil
      var replaced: StoreMachine<State>.RetainedValues?
      var released: [any Sendable] = []
      let isMade = self.machine.withLock { machine in
        guard machine.version == version else { return false }
        replaced = machine.retainedValues
        if State.hasHistory { machine.release(machine.state) }
        machine.version += 1
        machine.show(shown)
        results.replay()
        machine.setLayerResults(results)
        let change = body(&machine)
        machine.setLayerResults(nil)
        machine.queue(change, result: result, context(), run: run)
        released = machine.takeReleased()
        return true
      }
      self.deferRelease(of: replaced)
      _ = consume replaced
      _ = consume released
      if isMade { return self.deliver() }
    }
  }

  /// Keeps what a change has replaced until the exclusive access of this thread ends, if it has that.
  ///
  /// Only the last few are kept, so that they do not pile up: those before go while the access lasts.
  @usableFromInline
  func deferRelease(of replaced: StoreMachine<State>.RetainedValues?) {
    guard let replaced, self.machine.isOwnedByCurrentThread else { return }
    let surplus = self.machine.withLock { $0.deferRelease(of: replaced) }
    _ = consume surplus
  }

  func editLayers(_ edit: (inout StoreMachine<State>) -> Void) {
    self.changeBeneathLayers(OperationContext()) { machine in
      edit(&machine)
      return StoreChange()  // The machine has told of it itself, with its own context.
    }
  }

  /// Makes what a layer shows part of the state.
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
