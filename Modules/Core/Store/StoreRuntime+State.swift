extension StoreRuntime {
  @inlinable
  var path: OperationPath { self.operation.path }

  /// The visible state: with the layers applied.
  @inlinable
  var state: State { self.machine.withLock { $0.shownState } }

  /// Whether the last invalidation has not been answered.
  var isInvalidated: Bool { self.machine.withLock { $0.isInvalidated } }

  /// The number of changes of the value that its count does not show.
  var uncountedChanges: Int { self.machine.withLock { $0.extras?.content.uncountedChanges ?? 0 } }

  /// The state without the layers.
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
      withExtendedLifetime(context) {}  // Released after unlocking.
    }
  }

  @inlinable
  var subscriberCount: Int { self.machine.withLock { $0.subscribers.count } }

  /// Whether the value should be fetched again: after an invalidation, or when a staleness rule says so. The rules see the
  /// state without layers. Without rules a value is always stale.
  @inlinable
  var isStale: Bool {
    let (state, context, isInvalidated) = self.machine.withLock { ($0.state, $0.context, $0.isInvalidated) }
    return isInvalidated || context.stalenessRules.isStale(state, in: context)
  }

  @inlinable
  var isAutomaticRunningEnabled: Bool {
    guard self.operation.canRunUnasked else { return false }
    let context = self.context
    return context.automaticRunningSpecification.isSatisfied(in: context)
  }

  @inlinable
  func setResult(_ result: Result<State.StateValue, State.Failure>, using context: OperationContext?) {
    let context = self.eventContext(context)
    self.change(context) { $0.set(result, using: context) }
  }

  /// The context of a change outside any run, with the clock stopped now, also if `context` comes from an earlier event.
  @inlinable
  func eventContext(_ context: OperationContext?) -> OperationContext {
    var context = context ?? self.context
    context.event.frozenDate = nil
    return context.stoppingClock()
  }

  @inlinable
  func reset(using context: OperationContext?) {
    self.willReset()
    let context = self.eventContext(context)
    var tasks: [Task] = []
    self.change(context) { machine in
      let reset = machine.reset(using: context)
      tasks = reset.tasks
      return reset.change
    }
    guard !tasks.isEmpty else { return }
    self.act { [tasks] in for task in tasks { task.cancel() } }
  }

  // Not inlined: few stores are restored.
  @usableFromInline
  func willReset() {
    self.context.operationRestoration?.storeWillReset()
  }
}
