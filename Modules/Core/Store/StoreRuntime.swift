internal import Synchronization

/// What works behind an ``OperationStore``: it owns the machine, performs what that decides, and runs the operation.
///
/// Runs, subscriptions and controls hold the runtime, never the store, so that the store goes with its last reference and
/// closes the runtime when it does.
final class StoreRuntime<State: OperationState & Sendable>: Sendable {
  typealias Task = OperationTask<State.OperationValue, State.Failure>
  typealias RunFlight = Flight<State.OperationValue, State.Failure>

  let path: OperationPath
  let operation: OperationBox<State>
  let machine: ReentrantMutex<StoreMachine<State>>
  /// The store, as the contexts of its runs refer to it.
  let reference = TypedStoreReference<State>()
  /// The client that keeps the store, which wants to know when it is idle.
  let keeper = Mutex(StoreKeeperReference())

  init(operation: OperationBox<State>, state: State, context: OperationContext) {
    self.operation = operation
    self.path = operation.path
    self.machine = ReentrantMutex(StoreMachine(state: state, context: context))
  }
}

// MARK: - Acting after the lock

extension StoreRuntime {
  /// Makes a change under the lock, and delivers after it what the change has posted.
  ///
  /// - Parameter body: Changes the machine and nothing else: beneath layers it is carried out more than once.
  func change<R>(_ body: (inout StoreMachine<State>) -> R) -> R {
    var needsDelivery = true
    var replaced: StoreMachine<State>.Holdings?
    let result: R? = self.machine.withLock { machine in
      guard machine.layers.isEmpty else { return nil }
      replaced = machine.holdings
      machine.version += 1
      let result = body(&machine)
      needsDelivery = machine.needsDelivery
      return result
    }
    defer {
      // A deinitializer is foreign code as well: what the change has replaced goes after the lock.
      self.letGo(of: replaced)
      if needsDelivery { self.deliver() }
    }
    return result ?? self.changeBeneathLayers(body)
  }

  /// Makes a change that may alter what the layers make of the state.
  ///
  /// The layers are foreign code, so they are applied to a draft of the change outside the lock; the change is made when
  /// nothing else has changed by then.
  private func changeBeneathLayers<R>(_ body: (inout StoreMachine<State>) -> R) -> R {
    while true {
      var draft = self.machine.withLock { $0 }
      let version = draft.version
      _ = body(&draft)
      let shown = draft.layers.isEmpty ? nil : draft.stateBeneathLayers()
      var replaced: StoreMachine<State>.Holdings?
      let result: R? = self.machine.withLock { machine in
        guard machine.version == version else { return nil }
        replaced = machine.holdings
        machine.version += 1
        machine.show(shown)
        return body(&machine)
      }
      self.letGo(of: replaced)
      if let result { return result }
    }
  }

  /// Lets go of what a change has replaced: now, or when the exclusive access of this thread ends.
  private func letGo(of holdings: StoreMachine<State>.Holdings?) {
    guard self.machine.isOwnedByCurrentThread else { return }
    self.machine.withLock { $0.deferredActions.append { withExtendedLifetime(holdings) {} } }
  }

  func editLayers(_ edit: (inout StoreMachine<State>) -> Void) {
    self.changeBeneathLayers(edit)
    self.deliver()
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
    let shown = draft.layers.isEmpty ? nil : draft.stateBeneathLayers()
    return self.machine.withLock { machine in
      guard machine.version == version else { return false }
      machine.version += 1
      machine.show(shown)
      machine.commit(layer, committed)
      return true
    }
  }

  /// Hands events over until there are none, unless somebody does so already or the thread has exclusive access.
  func deliver() {
    guard !self.machine.isOwnedByCurrentThread else { return }
    var delivery = self.machine.withLock { $0.beginDelivery() }
    while let current = delivery {
      current.perform()
      delivery = self.machine.withLock { $0.nextDelivery() }
    }
  }

  /// Does something that may call foreign code: now, or when the exclusive access of this thread ends.
  func act(_ action: @escaping @Sendable () -> Void) {
    if self.machine.isOwnedByCurrentThread {
      self.machine.withLock { $0.deferredActions.append(action) }
    } else {
      action()
    }
  }

  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    defer { self.performDeferredActions() }
    return try self.machine.withExclusiveAccess(body)
  }

  private func performDeferredActions() {
    guard !self.machine.isOwnedByCurrentThread else { return }
    let actions = self.machine.withLock { machine in
      defer { machine.deferredActions = [] }
      return machine.deferredActions
    }
    self.deliver()
    for action in actions { action() }
  }

  /// Tells the client when the store has become idle or stopped being so, and observers when runs or subscribers are there
  /// that were not, or the other way round.
  func activityChanged() {
    let (isIdlenessNew, observers) = self.machine.withLock { $0.reportActivity() }
    guard isIdlenessNew || !observers.isEmpty else { return }
    self.act {
      for observer in observers { observer() }
      if isIdlenessNew { self.keeper.withLock { $0 }.idlenessChanged() }
    }
  }
}

// MARK: - State

extension StoreRuntime {
  /// What the store shows.
  var state: State { self.machine.withLock { $0.shownState } }

  var context: OperationContext {
    get { self.machine.withLock { $0.context } }
    set {
      var context = newValue
      // It may come from a run, or from an event, whose clock stands still.
      context.run = OperationContext.RunEntries()
      self.machine.withLock { swap(&$0.context, &context) }
      withExtendedLifetime(context) {}  // Until here, after the lock.
    }
  }

  var subscriberCount: Int { self.machine.withLock { $0.subscribers.count } }

  /// Whether the value should be fetched again: after an invalidation, or when a staleness rule says so. Without rules a
  /// value is always stale.
  var isStale: Bool {
    let (state, context, isInvalidated) = self.machine.withLock { ($0.shownState, $0.context, $0.isInvalidated) }
    return isInvalidated || context.stalenessRules.isStale(state, in: context)
  }

  var isAutomaticRunningEnabled: Bool {
    guard self.operation.canRunUnasked else { return false }
    let context = self.context
    return context.automaticRunningSpecification.isSatisfied(in: context)
  }

  func setResult(_ result: Result<State.StateValue, State.Failure>, using context: OperationContext?) {
    let context = (context ?? self.context).stoppingClock()
    self.change { $0.set(.set(result, context), using: context) }
  }

  func reset(using context: OperationContext?) {
    let context = (context ?? self.context).stoppingClock()
    let tasks = self.change { $0.reset(using: context) }
    guard !tasks.isEmpty else { return }
    self.act { for task in tasks { task.cancel() } }
  }
}
