extension StoreRuntime {
  @inlinable
  var path: OperationPath { self.operation.path }

  /// What the store shows.
  @inlinable
  var state: State { self.machine.withLock { $0.shownState } }

  @inlinable
  var context: OperationContext {
    // Not through a closure that takes the machine, which generic code would look up the type of.
    get { self.lock.withLock { OperationContext(storage: self.lockedMachine.contextStorage) } }
    set {
      var context = newValue
      // It may come from a run, or from an event, whose clock stands still.
      context.leaveRun()
      self.machine.withLock { swap(&$0.context, &context) }
      withExtendedLifetime(context) {}  // Until here, after the lock.
    }
  }

  @inlinable
  var subscriberCount: Int { self.machine.withLock { $0.subscribers.count } }

  /// Whether the value should be fetched again: after an invalidation, or when a staleness rule says so of what runs and
  /// setters have made. Without rules a value is always stale.
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

  /// The context of a change that no run makes, whose clock is stopped now: a context that comes from an event is dated anew.
  @inlinable
  func eventContext(_ context: OperationContext?) -> OperationContext {
    var context = context ?? self.context
    context.event.frozenDate = nil
    return context.stoppingClock()
  }

  @inlinable
  func reset(using context: OperationContext?) {
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
}
