internal import Synchronization

/// One wait of an owner for a run, which may end before the run does. The waiter then stays an owner.
final class PatientWait: Sendable {
  private enum Phase: Sendable {
    case arriving
    case waiting(WaiterTable.WaiterID)
    /// The time has ended before the run.
    case timedOut
    /// The run has ended, or the waiter was cancelled.
    case over
  }

  private struct State: Sendable {
    var phase = Phase.arriving
    var deadline: OperationSubscription?
  }

  let run: SharedRun
  private let patience: Duration
  private let deadlines: @Sendable () -> any DeadlineSource
  private let state = Locked(State())

  init(for run: SharedRun, within patience: Duration, on context: OperationContext) {
    self.run = run
    self.patience = patience
    self.deadlines = { context.operationDeadlines }
  }

  var hasTimedOut: Bool {
    self.state.withLock { if case .timedOut = $0.phase { true } else { false } }
  }

  /// Begins the time of the waiter, after the start of the run.
  func begin(at waiterID: WaiterTable.WaiterID) {
    let isWaiting = self.state.withLock { state in
      // The waiter was cancelled and has left already.
      guard case .arriving = state.phase else { return false }
      state.phase = .waiting(waiterID)
      return true
    }
    guard isWaiting else { return }
    if self.patience <= .zero { return self.timeOut() }
    let deadline = self.deadlines().schedule(after: self.patience.clampedForClock) { [weak self] in self?.timeOut() }
    let surplus = self.state.withLock { state -> OperationSubscription? in
      guard case .waiting = state.phase else { return deadline }
      state.deadline = deadline
      return nil
    }
    surplus?.cancel()
  }

  /// Ends the time of the waiter. Returns false if it has ended before the run.
  func end() -> Bool {
    let (isWaiting, deadline) = self.state.withLock { state in
      if case .timedOut = state.phase { return (false, state.deadline.take()) }
      state.phase = .over
      return (true, state.deadline.take())
    }
    deadline?.cancel()
    return isWaiting
  }

  private func timeOut() {
    // This is one step, because another waiter may get the identifier once this one has stopped waiting.
    let continuation = self.state.withLock { state -> WaiterTable.Continuation? in
      guard case .waiting(let waiterID) = state.phase else { return nil }
      let (hasLeft, continuation) = self.run.withState { $0.stopWaiting(waiterID) }
      if hasLeft { state.phase = .timedOut }
      return continuation
    }
    continuation?.resume(returning: false)
  }
}

extension SharedRun {
  /// Waits for the outcome of the run. The waiter is an owner already.
  ///
  /// - Parameters:
  ///   - wait: The wait, which ends after some time.
  ///   - context: The context to start the run with; nil if another caller starts it.
  /// - Returns: The outcome of the run; a cancellation if the waiter was cancelled; nil, and the waiter is still an
  ///   owner, if the time has ended.
  nonisolated(nonsending) func outcome(
    _ wait: PatientWait,
    startingIn context: OperationContext?
  ) async -> RunOutcome? {
    // What starts the run finishes one that was cancelled before.
    let waiterID =
      context == nil
      ? self.addOwningWaiter(leaving: self.leaving) : self.addWaiter(isOwner: true, isAlreadyOwner: true)
    guard let waiterID else { return self.outcomeWithoutWait }
    let hasFinished = await withTaskCancellationHandler {
      if let context { self.start(in: context) }
      wait.begin(at: waiterID)
      return await self.wait(at: waiterID, isOwner: true)
    } onCancel: {
      if wait.end() { self.leave(waiterID, isOwner: true, leaving: self.leaving) }
    }
    _ = wait.end()
    if hasFinished { return self.outcome }
    return wait.hasTimedOut ? nil : self.outcomeOfLeaving
  }
}

extension SharedRunState {
  /// Lets a waiter go without giving up its ownership, so that the run continues.
  ///
  /// - Returns: Whether it has gone, which is false if the run has ended or was cancelled; and the continuation to
  ///   resume, if any.
  mutating func stopWaiting(
    _ waiterID: WaiterTable.WaiterID
  ) -> (hasLeft: Bool, continuation: WaiterTable.Continuation?) {
    self.isAlive ? (true, self.waiters.leave(waiterID)) : (false, nil)
  }
}
