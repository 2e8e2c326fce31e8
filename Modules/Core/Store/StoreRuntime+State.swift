extension StoreRuntime {
  var path: OperationPath { self.operation.path }

  /// The state that the store shows: with the layers applied.
  var shownState: any StoredState { self.withMachine { $0.shownState } }

  /// Whether the last invalidation has not been answered.
  var isInvalidated: Bool { self.withMachine { $0.isInvalidated } }

  /// The number of changes of the value that its count does not include.
  var uncountedChanges: Int { self.withMachine { $0.extras?.content.uncountedChanges ?? 0 } }

  /// The state that the store shows, with a number that differs if the value was changed without a change of its count.
  ///
  /// With layers, each change of the store counts as a change of the value.
  var stateAndUncountedChanges: (state: any StoredState, uncountedChanges: UInt64, version: UInt64) {
    self.withMachine { machine in
      let changes = UInt64(machine.extras?.content.uncountedChanges ?? 0)
      return (machine.shownState, machine.hasLayers ? .max - machine.version : changes, machine.version)
    }
  }

  /// The state without the layers.
  var stateWithoutLayers: any StoredState { self.withMachine { $0.state } }

  @usableFromInline
  package var context: OperationContext {
    get { self.withMachine { $0.context } }
    set {
      var context = newValue
      // The context may come from a run or an event, whose clock is stopped.
      context.leaveRunOfSameStore()
      self.noteInterceptors(in: context)
      self.withMachine { swap(&$0.context, &context) }
      _ = consume context  // Released after unlocking.
    }
  }

  @usableFromInline
  package var subscriberCount: Int { self.withMachine { $0.subscribers.count } }

  /// The stamp of the value that the store shows: unconfirmed with optimistic updates.
  var valueStamp: ValueStamp { self.withMachine { $0.shownStamp } }

  /// Whether the value should be fetched again: after an invalidation, by its stamp, or because a staleness rule says so.
  ///
  /// The rules receive the state without layers. Without rules a value is always stale.
  var isStale: Bool {
    let (state, context, isInvalidated) = self.withMachine { ($0.state, $0.context, $0.isInvalidated) }
    if isInvalidated { return true }
    let typed = state.typed
    return context.stalenessRules.isStale(typed, state.stamp, in: context)
  }

  var isAutomaticRunningEnabled: Bool {
    guard self.operation.allowsAutomaticRuns, !self.isOver else { return false }
    let context = self.context
    return context.automaticRunningSpecification.isSatisfied(in: context)
  }

  /// Sets a value or an error from outside any run.
  @usableFromInline
  func setResult(_ result: RunOutcome, using context: OperationContext?) {
    let dated = self.eventContext(context)
    self.change(
      dated,
      event: .stateWritten(result.isSuccess ? .valueSet : .errorSet),
      by: .ofCurrentCode(in: context)
    ) { $0.set(result, using: dated, &$1) }
  }

  /// The context of a change outside any run: `context` or the store's, with its clock stopped now.
  func eventContext(_ context: OperationContext?) -> OperationContext {
    var context = context ?? self.context
    // The context may come from an earlier event, whose clock is stopped.
    context.event.frozenDate = nil
    context.event.stamp = ValueStamp(.set)
    return context.stoppingClock()
  }

  /// Resets the state, and cancels all runs after unlocking, before the subscribers are notified.
  ///
  /// - Parameters:
  ///   - context: The context of the change; nil for the store's.
  ///   - cause: The cause of the reset; nil for the code that runs now.
  func reset(using context: OperationContext?, by cause: OperationRunCause? = nil) {
    self.willReset()
    let passed = context
    let context = self.eventContext(context)
    var tasks: [ErasedTask] = []
    self.change(context, event: .stateWritten(.reset), by: cause ?? .ofCurrentCode(in: passed)) { machine, released in
      let reset = machine.reset(using: context, &released)
      tasks = reset.tasks
      // The runs are cancelled before the event: a run that a handler starts must not join a run that is about to be
      // cancelled.
      if !tasks.isEmpty { machine.eventQueue.append(.action { [tasks] in for task in tasks { task.cancel() } }) }
      return reset.change
    }
    guard !tasks.isEmpty else { return }
    self.deliver()
    // In a handler, or while another thread delivers events, the action waits for its turn. The cancellations do not.
    self.act { [tasks] in for task in tasks { task.cancel() } }
  }

  func willReset() {
    for level in self.context.storeLevels { level.storeWillReset() }
  }
}
