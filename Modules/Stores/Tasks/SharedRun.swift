internal import Synchronization

/// One run that any number of callers share; used by tasks, stores and deduplication.
///
/// A run starts once. Waiters and other owners keep it alive, and removing the last owner cancels it.
/// ``SharedRunState`` makes all decisions with the lock held. Continuations, cancellations and the delegate are called
/// after unlocking.
@usableFromInline
package final class SharedRun: Sendable {
  /// How a run starts.
  package enum StartMode: Sendable {
    /// At once on the caller's thread, unless the context asks for a priority or an executor, or runs are nested too
    /// deep.
    case immediate
    /// Later, on the executor of its task.
    case enqueued
  }

  /// When a waiter leaves after its task was cancelled.
  package enum Leaving: Sendable {
    /// At once while the run has other owners. The last owner cancels the run and waits for its outcome.
    case lastStays
    /// At once, even if it is the last owner, which cancels the run.
    case atOnce
  }

  package let id = OperationTaskIdentifier.next()
  /// The last invalidation of any store when the run began, if it has refreshed a store that the client had removed.
  let epochAfterRemoval = Atomic<Int>(.max)
  /// The type of the errors of the work. It may be unable to represent a `CancellationError`.
  let failureType: any Error.Type
  /// The waits of the work; nil if the callers of a store do not share its runs.
  let waitsOfWork: RunWaits?
  private let state: Mutex<SharedRunState>

  /// Creates a run that has not started.
  ///
  /// - Parameters:
  ///   - delegate: Does the work.
  ///   - failure: The type of the errors of the work.
  ///   - source: The run with the outcome that this run transforms; nil for none.
  ///   - isShared: Whether the callers of a store share the run.
  ///   - ownerCount: The number of owners that the run begins with.
  init(
    delegate: any RunDelegate,
    failure: any Error.Type,
    source: TaskLink?,
    isShared: Bool = false,
    ownerCount: Int = 0
  ) {
    self.failureType = failure
    self.waitsOfWork = isShared ? RunWaits(of: self.id) : nil
    self.state = Mutex(SharedRunState(delegate: delegate, source: source, ownerCount: ownerCount))
    source?.node.becomePrerequisite()
  }

  /// Creates a run that has not started, of a store or of a module.
  ///
  /// - Parameters:
  ///   - delegate: Does the work.
  ///   - failure: The type of the errors of the work.
  ///   - isShared: Whether the callers of a store share the run.
  ///   - ownerCount: The number of owners that the run begins with.
  package convenience init(
    delegate: any RunDelegate,
    failure: any Error.Type,
    isShared: Bool = false,
    ownerCount: Int = 0
  ) {
    self.init(delegate: delegate, failure: failure, source: nil, isShared: isShared, ownerCount: ownerCount)
  }
}

extension SharedRun {
  /// Calls `body` with the lock held. `body` must not call code of the delegate or of users.
  func withState<R>(_ body: (inout SharedRunState) -> R) -> R {
    self.state.withLock { Unsent(body(&$0)) }.value
  }

  /// A `CancellationError` as an outcome; nil if the failure type cannot represent it.
  var cancellation: RunOutcome? { RunOutcome.cancellation(as: self.failureType) }

  /// The outcome of the run, which must have finished.
  var outcome: RunOutcome {
    guard let outcome = self.finishedOutcome else {
      preconditionFailure("A shared run has no outcome before it finishes.")
    }
    return outcome
  }
}

// MARK: - Waiting

extension SharedRun {
  /// When a caller of the run leaves after it was cancelled.
  package var leaving: Leaving { self.waitsOfWork == nil ? .lastStays : .atOnce }

  /// Starts the run if it has not started, and waits for its outcome.
  ///
  /// - Parameters:
  ///   - context: The context that the run starts with.
  ///   - mode: How the run starts.
  ///   - leaving: When the caller leaves after it was cancelled.
  ///   - isAlreadyOwner: Whether the caller is an owner of the run already. It stays one until it leaves.
  /// - Returns: The outcome of the run, or a cancellation if the caller leaves before the run has finished.
  package nonisolated(nonsending) func startAndWait(
    in context: OperationContext,
    mode: StartMode = .immediate,
    leaving: Leaving = .lastStays,
    isAlreadyOwner: Bool = false
  ) async -> RunOutcome {
    guard let waiterID = self.addWaiter(isOwner: true, isAlreadyOwner: isAlreadyOwner) else { return self.outcome }
    if let wait = UnstructuredWait.ofCurrentTask(for: self, at: waiterID) {
      return await self.outcome(of: wait, leaving: leaving) { self.start(in: context, mode: mode) }
    }
    let hasFinished = await withTaskCancellationHandler {
      self.start(in: context, mode: mode)
      return await self.wait(at: waiterID, isOwner: true)
    } onCancel: {
      self.leave(waiterID, isOwner: true, leaving: leaving)
    }
    return hasFinished ? self.outcome : self.outcomeOfLeaving
  }

  /// Waits for the outcome of a run that another caller starts. The caller is an owner already, and stays one until it
  /// leaves.
  nonisolated(nonsending) func waitAsOwner(leaving: Leaving) async -> RunOutcome {
    guard let waiterID = self.addOwningWaiter(leaving: leaving) else { return self.outcomeWithoutWait }
    return await self.waitAsOwner(at: waiterID, leaving: leaving)
  }

  /// Adds a waiter that is an owner already; nil if it gets ``outcomeWithoutWait``.
  ///
  /// Those that wait when a run is cancelled for all leave, if they leave at once. One that came later would wait for the end of
  /// the work, so it is not added.
  func addOwningWaiter(leaving: Leaving) -> WaiterTable.WaiterID? {
    let mayWait = leaving != .atOnce
    let waiterID = self.addWaiter(isOwner: true, isAlreadyOwner: true, unlessCancelled: !mayWait)
    return waiterID == nil && !mayWait ? self.addLateWaiter() : waiterID
  }

  /// Adds an owner as a waiter after the run was cancelled, if its failure cannot be a cancellation.
  @inline(never)
  private func addLateWaiter() -> WaiterTable.WaiterID? {
    self.cancellation == nil ? self.addWaiter(isOwner: true, isAlreadyOwner: true) : nil
  }

  /// The outcome for an owner that need not wait: the run has finished, or was cancelled.
  var outcomeWithoutWait: RunOutcome { self.finishedOutcome ?? self.outcomeOfLeaving }

  /// Waits for the outcome of a run that another caller starts.
  ///
  /// - Parameters:
  ///   - leaving: When the caller leaves after it was cancelled.
  ///   - onJoin: Called when the caller has become an owner, before it waits.
  /// - Returns: The outcome of the run, or a cancellation if the caller leaves before the run has finished. Nil,
  ///   without waiting, when the run is cancelled or its work has ended.
  package nonisolated(nonsending) func joinIfAlive(leaving: Leaving, onJoin: () -> Void = {}) async -> RunOutcome? {
    guard let waiterID = self.addWaiter(isOwner: true, onlyIfAlive: true) else { return nil }
    onJoin()
    return await self.waitAsOwner(at: waiterID, leaving: leaving)
  }

  // Inlined, as the method below is: a frame of its own would take memory in each task that waits.
  @inline(__always)
  private nonisolated(nonsending) func waitAsOwner(
    at waiterID: WaiterTable.WaiterID,
    leaving: Leaving
  ) async -> RunOutcome {
    if let wait = UnstructuredWait.ofCurrentTask(for: self, at: waiterID) {
      return await self.outcome(of: wait, leaving: leaving) {}
    }
    let hasFinished = await withTaskCancellationHandler {
      await self.wait(at: waiterID, isOwner: true)
    } onCancel: {
      self.leave(waiterID, isOwner: true, leaving: leaving)
    }
    return hasFinished ? self.outcome : self.outcomeOfLeaving
  }

  /// Waits until the run has finished, without becoming an owner. Returns early when the current task is cancelled.
  package nonisolated(nonsending) func settled() async {
    guard let waiterID = self.addWaiter(isOwner: false) else { return }
    _ = await withTaskCancellationHandler {
      await self.wait(at: waiterID, isOwner: false)
    } onCancel: {
      self.leave(waiterID, isOwner: false, leaving: .atOnce)
    }
  }

  /// Adds a waiter. An owner raises the priority of the run to its own.
  ///
  /// - Parameters:
  ///   - isOwner: Whether the waiter keeps the run alive.
  ///   - isAlreadyOwner: Whether the waiter is counted as an owner already.
  ///   - onlyIfAlive: Whether to add no waiter when the run is cancelled or its work has ended.
  ///   - unlessCancelled: Whether to add no waiter when the run is cancelled.
  /// - Returns: The waiter; nil when none was added, or when the run has finished.
  func addWaiter(
    isOwner: Bool,
    isAlreadyOwner: Bool = false,
    onlyIfAlive: Bool = false,
    unlessCancelled: Bool = false
  ) -> WaiterTable.WaiterID? {
    let priority = isOwner ? RunTask.currentPriority : 0
    let (waiterID, taskToRaise) = self.withState { state -> (WaiterTable.WaiterID?, RunTask?) in
      if onlyIfAlive, !state.isAlive { return (nil, nil) }
      if unlessCancelled, state.isCancelled { return (nil, nil) }
      guard let waiterID = state.addWaiter(isOwner: isOwner, isAlreadyOwner: isAlreadyOwner) else { return (nil, nil) }
      return (waiterID, state.raise(to: priority))
    }
    taskToRaise?.escalatePriority(to: priority)
    return waiterID
  }

  /// Waits until the run has finished or the waiter has left. Returns false if the waiter has left first.
  @inline(__always)
  nonisolated(nonsending) func wait(at waiterID: WaiterTable.WaiterID, isOwner: Bool) async -> Bool {
    // Once the run has finished, the tables change only by waiters that leave early.
    if self.withState({ $0.phase == .finished && !$0.hasEarlyLeavers }) { return true }
    return await withUnsafeContinuation { continuation in
      let answer = self.withState { $0.suspend(continuation, at: waiterID, isOwner: isOwner) }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  /// The outcome for an owner that leaves in the current task.
  var outcomeOfLeaving: RunOutcome {
    EnclosingRun.noteWaitEnded()
    guard let outcome = self.cancellation else {
      preconditionFailure("A waiter left a shared run whose failure cannot represent a cancellation.")
    }
    return outcome
  }
}

// MARK: - Waiting in a task that a run has made

extension SharedRun {
  /// Waits for the outcome in a task that the work of another run has made. A cycle ends the wait.
  // Not inlined: few tasks are of this kind, and the others would allocate room for the handlers.
  @inline(never)
  private nonisolated(nonsending) func outcome(
    of wait: UnstructuredWait,
    leaving: Leaving,
    after start: () -> Void
  ) async -> RunOutcome {
    let hasFinished = await withTaskCancellationHandler {
      start()
      return await withTaskPriorityEscalationHandler {
        wait.begin()
        return await self.wait(at: wait.waiter, isOwner: true)
      } onPriorityEscalated: { _, priority in
        wait.noteRise(to: priority.rawValue)
      }
    } onCancel: {
      if wait.takeLeave() { self.leave(wait.waiter, isOwner: true, leaving: leaving) }
    }
    let cycle = wait.end()
    if hasFinished { return self.outcome }
    return cycle.map { RunOutcome.cycle($0, as: self.failureType) } ?? self.outcomeOfLeaving
  }
}

// MARK: - Priority

extension SharedRun {
  /// Raises the priority of the run to at least `priority`, as a waiter with that priority does.
  package func raise(to priority: TaskPriority) {
    let task = self.withState { $0.raise(to: priority.rawValue) }
    task?.escalatePriority(to: priority.rawValue)
  }
}

// MARK: - Observing

extension SharedRun {
  package var isCancelled: Bool { self.withState { $0.isCancelled } }

  /// Whether the run can be joined: until it is cancelled or its work has ended.
  var isAlive: Bool { self.withState { $0.isAlive } }

  package var isRunning: Bool {
    self.withState { $0.phase == .executing || $0.phase == .finishing }
  }

  /// Whether the run has started and its work has not ended.
  package var isExecuting: Bool { self.withState { $0.phase == .executing } }

  var hasStarted: Bool { self.withState { $0.phase != .notStarted } }

  /// The outcome; nil until the run has finished.
  package var finishedOutcome: RunOutcome? { self.withState { $0.outcome } }
}
