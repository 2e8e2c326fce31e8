public import Synchronization

/// One run that any number of callers share: the engine under tasks, stores and deduplication.
///
/// It begins once, lives while somebody who counts holds on to it, and is cancelled when the last of them leaves. What is
/// to be decided is decided under the lock, by ``SharedRunState``; continuations, cancellation and the delegate are called after
/// it.
@usableFromInline
package final class SharedRun<Success: Sendable, Failure: Error>: Sendable {
  @usableFromInline package typealias Outcome = Result<Success, Failure>

  /// How a run begins.
  @usableFromInline
  package enum StartMode: Sendable {
    /// At once on the caller's thread, unless the context asks for a priority or an executor.
    case immediate
    /// On the executor of its task, when that gets to it.
    case enqueued
  }

  /// What a waiter does when its task is cancelled.
  @usableFromInline
  package enum Leaving: Sendable {
    /// It leaves, except for the last one, who waits for the end of the run that its leaving has cancelled.
    case lastStays
    /// It leaves at once, the last one too.
    case atOnce
  }

  @usableFromInline package let id = OperationTaskIdentifier.next()
  // The lock lies beside the state, not around it: a `Mutex` copies and destroys its value without knowing the type.
  @usableFromInline let lock = Mutex(())
  /// Lets another run run in the task of this one, if it may.
  @usableFromInline let loan: TaskLoan?
  /// Set once the outcome is there for good.
  @usableFromInline let isFinished = Atomic(false)

  // Unsafe only in name: touched by whoever holds the lock.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var state = SharedRunState()
  // Unsafe only in name: written under the lock before `isFinished` is set, and read by those who have seen that it is.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var settledOutcome: RunOutcome?
  // Unsafe only in name: touched by whoever holds the lock. Let go at the end: a state that keeps finished tasks must not
  // keep the store that flew them.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) var delegate: (any RunDelegate<Success, Failure>)?

  @inlinable
  package init(
    delegate: any RunDelegate<Success, Failure>,
    source: (any TaskLinking)? = nil,
    loan: TaskLoan? = nil,
    ownerCount: Int = 0
  ) {
    self.loan = loan
    self.delegate = delegate
    self.state.ownerCount = ownerCount
    if let source {
      self.state.source = source
      Self.note(prerequisite: source)
    }
  }
}

extension SharedRun {
  /// Runs `body`, which must not call foreign code, under the lock.
  @inlinable
  @inline(__always)
  func withState<R>(_ body: (inout SharedRunState) -> R) -> R {
    self.lock.withLock { _ in Unsent(body(&self.state)) }.value
  }

  // Not inlined: few runs have a source.
  @usableFromInline
  static func note(prerequisite source: any TaskLinking) {
    source.node.becomePrerequisite()
  }

  /// The outcome of those who leave, or nil where `Failure` has no room for it.
  @inlinable
  package static var cancellation: Outcome? {
    // Not inlined: the size of the error is known at run time only, and each call of an async function that makes one
    // allocates room for it, made or not.
    @inline(never) get { (CancellationError() as? Failure).map(Outcome.failure) }
  }
}

// MARK: - Waiting

extension SharedRun {
  /// Begins the run if nobody has, and waits for its outcome.
  @inlinable
  package nonisolated(nonsending) func outcome(
    in context: OperationContext,
    mode: StartMode = .immediate,
    leaving: Leaving = .lastStays
  ) async -> Outcome {
    await self.outcome(leaving: leaving) { self.begin(in: context, mode: mode) }
  }

  /// Begins the run if nobody has, with the delegate that it was made with, and waits for its outcome.
  ///
  /// Who knows the type of the delegate spares the run the search for what to call.
  ///
  /// - Parameter isHeld: Whether the one who waits holds on to the run already, until it leaves.
  @inlinable
  @inline(__always)
  package nonisolated(nonsending) func outcome<Delegate: RunDelegate>(
    in context: OperationContext,
    leaving: Leaving,
    isOwner isAlreadyOwner: Bool = false,
    delegate: Delegate
  ) async -> Outcome where Delegate.Success == Success, Delegate.Failure == Failure {
    await self.outcome(leaving: leaving, isAlreadyOwner: isAlreadyOwner) {
      self.begin(in: context, mode: .immediate, delegate: delegate)
    }
  }

  @inlinable
  @inline(__always)
  nonisolated(nonsending) func outcome(
    leaving: Leaving,
    isAlreadyOwner: Bool = false,
    beginning begin: () -> Void
  ) async -> Outcome {
    guard let waiterID = self.addWaiter(isOwner: true, isAlreadyOwner: isAlreadyOwner) else { return self.outcome }
    let hasFinished = await withTaskCancellationHandler {
      begin()
      return await self.wait(at: waiterID)
    } onCancel: {
      self.leave(waiterID, isOwner: true, leaving: leaving)
    }
    return hasFinished ? self.outcome : Self.outcomeOfLeaving
  }

  /// Waits for the outcome of a run that another one begins, and that the caller holds already, until it leaves.
  @inlinable
  package nonisolated(nonsending) func outcomeOfOwner(leaving: Leaving) async -> Outcome {
    await self.outcome(leaving: leaving, isAlreadyOwner: true) {}
  }

  /// Waits for the outcome of a run that somebody has begun or is about to; nil when it is dying or over.
  ///
  /// - Parameter onBoard: Called once the caller counts, before it waits.
  @inlinable
  package nonisolated(nonsending) func outcomeIfAlive(leaving: Leaving, onJoin: () -> Void = {}) async -> Outcome? {
    guard let waiterID = self.addWaiter(isOwner: true, onlyIfAlive: true) else { return nil }
    onJoin()
    let hasFinished = await withTaskCancellationHandler {
      await self.wait(at: waiterID)
    } onCancel: {
      self.leave(waiterID, isOwner: true, leaving: leaving)
    }
    return hasFinished ? self.outcome : Self.outcomeOfLeaving
  }

  /// Waits until the run is over, without being a reason for it to go on. Returns early when the task is cancelled.
  @inlinable
  package nonisolated(nonsending) func settled() async {
    guard let waiterID = self.addWaiter(isOwner: false) else { return }
    _ = await withTaskCancellationHandler {
      await self.wait(at: waiterID)
    } onCancel: {
      self.leave(waiterID, isOwner: false, leaving: .atOnce)
    }
  }

  /// A waiter; nil when the run is over, or dying where that matters. Who counts raises the priority to its own.
  @inlinable
  func addWaiter(isOwner: Bool, isAlreadyOwner: Bool = false, onlyIfAlive: Bool = false) -> WaiterTable.WaiterID? {
    let priority = isOwner ? RunTask.currentPriority : 0
    let (waiterID, taskToRaise) = self.withState { state -> (WaiterTable.WaiterID?, RunTask?) in
      if onlyIfAlive, !state.isAlive { return (nil, nil) }
      guard let waiterID = state.addWaiter(isOwner: isOwner, isAlreadyOwner: isAlreadyOwner) else { return (nil, nil) }
      return (waiterID, state.raise(to: priority))
    }
    taskToRaise?.escalatePriority(to: priority)
    return waiterID
  }

  /// Whether the run has finished: false when the waiter has left.
  @inlinable
  @inline(__always)
  nonisolated(nonsending) func wait(at waiterID: WaiterTable.WaiterID) async -> Bool {
    if self.isFinished.load(ordering: .acquiring) { return true }
    return await withUnsafeContinuation { continuation in
      let answer = self.withState { $0.suspend(continuation, at: waiterID) }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  @inlinable
  static var outcomeOfLeaving: Outcome {
    guard let outcome = self.cancellation else {
      preconditionFailure("Nobody leaves a sharedRun whose failure has no room for a cancellation.")
    }
    return outcome
  }

  // Not inlined: a cancellation is rare.
  @usableFromInline
  func leave(_ waiterID: WaiterTable.WaiterID, isOwner: Bool, leaving: Leaving) {
    // Who cannot be told of the cancellation waits for the end, but no longer counts.
    let mayLeave = !isOwner || Self.cancellation != nil
    let (pendingCancellation, continuation) = self.withState { state in
      let left = state.leave(waiterID, isOwner: isOwner, mayLeave: mayLeave, lastStays: leaving == .lastStays)
      return (self.pendingCancellation(left.cancellation), left.continuation)
    }
    if let pendingCancellation {
      self.performCancellation(pendingCancellation) { continuation?.resume(returning: false) }
    } else {
      continuation?.resume(returning: false)
    }
  }
}

// MARK: - Holding and cancelling

extension SharedRun {
  /// Keeps the run alive until ``release()``. False when it is dying or over.
  @usableFromInline
  package func addOwner() -> Bool {
    self.withState { $0.addOwner() }
  }

  /// Takes a hold back, and cancels the run when it was the last.
  @usableFromInline
  package func removeOwner() {
    let pendingCancellation = self.withState { self.pendingCancellation($0.removeOwner()) }
    if let pendingCancellation { self.performCancellation(pendingCancellation) }
  }

  /// Cancels the run, whoever holds on to it.
  @usableFromInline
  package func cancel() {
    let pendingCancellation = self.withState { self.pendingCancellation($0.cancel()) }
    if let pendingCancellation { self.performCancellation(pendingCancellation) }
  }

  private struct PendingCancellation {
    let task: RunTask?
    /// Who is to be told: nobody when the run had not begun.
    let delegate: (any RunDelegate<Success, Failure>)?
  }

  /// Called under the lock, as the delegate goes when the run finishes.
  private func pendingCancellation(_ cancellation: SharedRunState.CancellationEffects?) -> PendingCancellation? {
    cancellation.map { PendingCancellation(task: $0.task, delegate: $0.hadBegun ? self.delegate : nil) }
  }

  private func finishEarly(_ delegate: some RunDelegate<Success, Failure>) {
    guard let cancellation = Self.cancellation, let task = delegate.task(of: self) else { return }
    self.finish(cancellation, of: task, delegate)
  }

  private func performCancellation(_ pendingCancellation: PendingCancellation, afterwards: @escaping () -> Void = {}) {
    CancellationTrampoline.perform {
      pendingCancellation.delegate?.wasCancelled(self)
      if let loan = self.loan {
        // The task goes on with what others may wait for. Those who wait for this run do not.
        if loan.cancel(pendingCancellation.task), let delegate = pendingCancellation.delegate {
          self.finishEarly(delegate)
        }
      } else {
        pendingCancellation.task?.cancel()
      }
      afterwards()
    }
  }

  /// Raises the priority of the run, as a caller with that priority would.
  @usableFromInline
  package func raise(to priority: TaskPriority) {
    let task = self.withState { $0.raise(to: priority.rawValue) }
    task?.escalatePriority(to: priority.rawValue)
  }
}

// MARK: - Asking

extension SharedRun {
  @inlinable
  package var isCancelled: Bool { self.withState { $0.isCancelled } }

  /// Whether the run can be joined: until it is cancelled, or its outcome is settled.
  @inlinable
  package var isAlive: Bool { self.withState { $0.isAlive } }

  package var isRunning: Bool {
    self.withState { $0.phase == .executing || $0.phase == .finishing }
  }

  /// Whether the work is under way: from its beginning until it returns.
  @inlinable
  package var isExecuting: Bool { self.withState { $0.phase == .executing } }

  package var hasStarted: Bool { self.withState { $0.phase != .notStarted } }

  package var finishedOutcome: Outcome? {
    self.isFinished.load(ordering: .acquiring) ? self.outcome : nil
  }
}
