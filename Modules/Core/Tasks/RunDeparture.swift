/// Lets a caller leave a run after some time, with an answer in place of the outcome. The run continues without it.
final class RunDeparture: Sendable {
  private enum Phase: Sendable {
    case arriving
    case waiting(WaiterTable.WaiterID)
    case departed(CallAnswer)
    /// The caller no longer waits, or waits until the end.
    case over
  }

  private struct State: Sendable {
    var phase = Phase.arriving
    var deadline: OperationSubscription?
  }

  private let sharedRun: SharedRun
  private let patience: Duration?
  private let deadlines: @Sendable () -> any DeadlineSource
  private let makeAnswer: @Sendable () -> CallAnswer?
  private let state = Locked(State())

  /// Creates a departure.
  ///
  /// - Parameters:
  ///   - sharedRun: The run that the caller waits for.
  ///   - patience: How long the caller waits; nil if it waits until the end.
  ///   - context: The context with the source of deadlines.
  ///   - makeAnswer: Returns the answer with which the caller leaves; nil if the caller stays. Called with no lock
  ///     held.
  init(
    from sharedRun: SharedRun,
    after patience: Duration?,
    on context: OperationContext,
    _ makeAnswer: @escaping @Sendable () -> CallAnswer?
  ) {
    self.sharedRun = sharedRun
    self.patience = patience
    self.deadlines = { context.operationDeadlines }
    self.makeAnswer = makeAnswer
  }

  /// The answer with which the caller has left; nil if it has not left.
  var answer: CallAnswer? {
    self.state.withLock { state in
      if case .departed(let answer) = state.phase { answer } else { nil }
    }
  }

  /// Begins the time of the caller, after the start of the run.
  func begin(at waiterID: WaiterTable.WaiterID) {
    guard let patience else { return }
    let isWaiting = self.state.withLock { state in
      // The caller was cancelled and has left already.
      guard case .arriving = state.phase else { return false }
      state.phase = .waiting(waiterID)
      return true
    }
    guard isWaiting else { return }
    if patience <= .zero { return self.depart() }
    let deadline = self.deadlines().schedule(after: patience.clampedForClock) { [weak self] in self?.depart() }
    let surplus = self.state.withLock { state -> OperationSubscription? in
      guard case .waiting = state.phase else { return deadline }
      state.deadline = deadline
      return nil
    }
    surplus?.cancel()
  }

  /// Ends the time of the caller. Returns false if the caller has left before.
  func end() -> Bool {
    let (isWaiting, deadline) = self.state.withLock { state in
      if case .departed = state.phase { return (false, state.deadline.take()) }
      state.phase = .over
      return (true, state.deadline.take())
    }
    deadline?.cancel()
    return isWaiting
  }

  private func depart() {
    guard self.sharedRun.isAlive, let answer = self.makeAnswer() else { return }
    // This is one step, because another caller may get the identifier once the caller has stopped waiting.
    let continuation = self.state.withLock { state -> WaiterTable.Continuation? in
      guard case .waiting(let waiterID) = state.phase else { return nil }
      let (hasLeft, continuation) = self.sharedRun.withState { $0.depart(waiterID) }
      if hasLeft { state.phase = .departed(answer) }
      return continuation
    }
    continuation?.resume(returning: false)
  }
}

extension SharedRun {
  /// Waits for the outcome of the run, or until the caller departs.
  ///
  /// - Parameters:
  ///   - context: The context to start the run with; nil if another caller starts it.
  ///   - leaving: When the caller leaves after it was cancelled.
  ///   - isAlreadyOwner: Whether the caller is an owner of the run already. It stays one until it leaves.
  ///   - departure: Lets the caller leave earlier.
  /// - Returns: The outcome of the run; the outcome in the answer of a caller that has departed; or a cancellation, if
  ///   the caller was cancelled.
  nonisolated(nonsending) func wait(
    startingIn context: OperationContext?,
    leaving: Leaving,
    isAlreadyOwner: Bool,
    until departure: RunDeparture
  ) async -> RunOutcome {
    guard let waiterID = self.addWaiter(isOwner: true, isAlreadyOwner: isAlreadyOwner) else { return self.outcome }
    let hasFinished = await withTaskCancellationHandler {
      if let context { self.start(in: context) }
      departure.begin(at: waiterID)
      return await self.wait(at: waiterID, isOwner: true)
    } onCancel: {
      if departure.end() { self.leave(waiterID, isOwner: true, leaving: leaving) }
    }
    _ = departure.end()
    if hasFinished { return self.outcome }
    return departure.answer?.outcome ?? self.outcomeOfLeaving
  }
}

extension SharedRunState {
  /// Lets a waiter leave without giving up its ownership, so that the run continues.
  ///
  /// - Returns: Whether it has left, which is false if the run has ended or was cancelled; and the continuation to
  ///   resume, if any.
  mutating func depart(_ waiterID: WaiterTable.WaiterID) -> (hasLeft: Bool, continuation: WaiterTable.Continuation?) {
    self.isAlive ? (true, self.waiters.leave(waiterID)) : (false, nil)
  }
}
