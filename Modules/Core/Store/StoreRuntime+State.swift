extension StoreRuntime {
  @inlinable
  var path: OperationPath { self.operation.path }

  /// The state that the store shows: with the layers applied.
  @inlinable
  var state: State { self.machine.withLock { $0.shownState } }

  /// Whether the last invalidation has not been answered.
  var isInvalidated: Bool { self.machine.withLock { $0.isInvalidated } }

  /// The number of changes of the value that its count does not include.
  var uncountedChanges: Int { self.machine.withLock { $0.extras?.content.uncountedChanges ?? 0 } }

  /// The state that the store shows, with a number that differs if the value was changed otherwise than its count says.
  ///
  /// With layers, each change of the store counts as one of the value.
  var stateAndUncountedChanges: (state: State, uncountedChanges: UInt64) {
    self.machine.withLock { machine in
      let changes = UInt64(machine.extras?.content.uncountedChanges ?? 0)
      return (machine.shownState, machine.hasLayers ? .max - machine.version : changes)
    }
  }

  /// The state without the layers.
  @inlinable
  var stateWithoutLayers: State { self.machine.withLock { $0.state } }

  @inlinable
  var context: OperationContext {
    // Not through a closure over the machine: unspecialized code would look up the machine's type.
    get { self.lock.withLock { OperationContext(storage: self.lockedMachine.contextStorage) } }
    set {
      var context = newValue
      // The context may come from a run or an event, whose clock is stopped.
      context.leaveRunOfSameStore()
      self.machine.withLock { swap(&$0.context, &context) }
      _ = consume context  // Released after unlocking.
    }
  }

  @inlinable
  var subscriberCount: Int { self.machine.withLock { $0.subscribers.count } }

  /// Whether the value should be fetched again: after an invalidation, or because a staleness rule says so.
  ///
  /// The rules receive the state without layers. Without rules a value is always stale.
  @inlinable
  var isStale: Bool {
    let (state, context, isInvalidated) = self.machine.withLock { ($0.state, $0.context, $0.isInvalidated) }
    return isInvalidated || context.stalenessRules.isStale(state, in: context)
  }

  @inlinable
  var isAutomaticRunningEnabled: Bool {
    guard self.operation.allowsAutomaticRuns else { return false }
    let context = self.context
    return context.automaticRunningSpecification.isSatisfied(in: context)
  }

  /// Sets a value or an error from outside any run.
  @inlinable
  func setResult(_ result: Result<State.StateValue, State.Failure>, using context: OperationContext?) {
    let context = self.eventContext(context)
    self.change(context) { $0.set(result, using: context) }
  }

  /// The context of a change outside any run: `context`, or that of the store, with its clock stopped now.
  @inlinable
  func eventContext(_ context: OperationContext?) -> OperationContext {
    var context = context ?? self.context
    // The context may come from an earlier event, whose clock is stopped.
    context.event.frozenDate = nil
    return context.stoppingClock()
  }

  /// Resets the state, and cancels all runs after unlocking, before the subscribers are notified.
  @inlinable
  func reset(using context: OperationContext?) {
    self.willReset()
    let context = self.eventContext(context)
    var tasks: [StoreTask] = []
    self.change(context) { machine in
      let reset = machine.reset(using: context)
      tasks = reset.tasks
      // Cancelled before the event: a run that a handler starts must not join what is about to be cancelled.
      if !tasks.isEmpty { machine.eventQueue.append(.action { [tasks] in for task in tasks { task.cancel() } }) }
      return reset.change
    }
    guard !tasks.isEmpty else { return }
    self.deliver()
    // In a handler, or while another thread delivers, the action waits: the runs do not.
    self.act { [tasks] in for task in tasks { task.cancel() } }
  }

  // Not inlined: few stores are restored.
  @usableFromInline
  func willReset() {
    self.context.operationRestoration?.storeWillReset()
  }
}
