/// The reason for which a pause of a run has ended.
@nonexhaustive(warn)
public enum OperationPauseOutcome: Hashable, Sendable {
  /// The specification holds.
  case satisfied
  /// The task was cancelled.
  case cancelled
  /// The time limit, or a deadline of the operation inside, has passed, and the specification does not hold.
  case timedOut
}

extension OperationContext {
  /// Pauses the run with this context until a specification holds, its time limit has passed or the task is cancelled.
  ///
  /// For modifiers that wait for a condition. The method returns at once if the specification holds. While it waits,
  /// ``OperationState/isPaused`` is true in the state of the run's store, and in the stores of other callers that share the
  /// run. Nothing polls: the specification reports its changes. On the default executor, runs whose specification begins
  /// to hold resume one after another, in the order in which they were paused, and a handler that blocks when its run
  /// resumes delays the later ones. Those on an actor or another executor resume at once, in the order of that executor.
  ///
  /// - Parameters:
  ///   - specification: What to wait for, evaluated in this context with no lock held.
  ///   - timeout: The longest time to wait, measured by ``operationDeadlines``; nil to wait without a limit. If the
  ///     operation inside has a deadline, the pause ends then at the latest. Run the operation: it fails at once.
  /// - Returns: The reason for which the pause has ended.
  public nonisolated(nonsending) func pause(
    until specification: some OperationRunSpecification & Sendable,
    timeout: OperationDuration? = nil
  ) async -> OperationPauseOutcome {
    if specification.isSatisfied(in: self) { return .satisfied }
    return await self.pauseUnlessSatisfied(until: specification, timeout: timeout)
  }

  // Not inlined: most runs are not paused, and would allocate memory for this wait, used or not.
  @inline(never)
  private nonisolated(nonsending) func pauseUnlessSatisfied(
    until specification: some OperationRunSpecification & Sendable,
    timeout: OperationDuration?
  ) async -> OperationPauseOutcome {
    let observers = RunPauses.current
    let loan = NodeWork.lend(for: { specification.waitReason }, isPause: true, in: self)
    if observers.isEmpty, loan == nil { return await self.wait(until: specification, timeout: timeout) }
    // The notices are sent before and after the wait, so that an observer that takes time does not delay later runs in
    // the queue.
    let name = OperationName.of(type(of: specification))
    for observer in observers.reversed() { observer.runWillPause(until: name) }
    let outcome = await self.wait(until: specification, timeout: timeout)
    for observer in observers { await observer.runDidPause() }
    await loan?.end()
    return outcome
  }

  private nonisolated(nonsending) func wait(
    until specification: some OperationRunSpecification & Sendable,
    timeout: OperationDuration?
  ) async -> OperationPauseOutcome {
    let timeout = [timeout, self.timeUntilDeadlineInside].compactMap(\.self).min()
    let run = PausedRun(isQueueing: RunTask.isOnDefaultExecutor(isolation: #isolation))
    // The subscription comes before the next evaluation, so that no change between the two is missed.
    let subscription = specification.subscribe(in: self) {
      if specification.isSatisfied(in: self) { run.specificationHolds() }
    }
    defer { subscription.cancel() }
    if specification.isSatisfied(in: self) {
      run.end(.specificationHeld)
      run.unblockQueue()
      return .satisfied
    }
    let start = self.operationDeadlines.elapsed
    let reason = OperationNotice.Value.string(specification.waitReason)
    let pause = RunPause(reason: specification.waitReason, start: start)
    self.report(.paused(pause))
    self.reportWait(.waitBegan(StoreWait(pause)))
    self.send(OperationNotice(.runPaused, in: self, attributes: ["pause.reason": reason]))
    let deadline = timeout.map { self.operationDeadlines.schedule(after: $0) { run.end(.timedOut) } }
    let outcome = await withTaskCancellationHandler {
      while true {
        switch await run.suspend() {
        case .cancelled: return OperationPauseOutcome.cancelled
        case .timedOut: return specification.isSatisfied(in: self) ? .satisfied : .timedOut
        case .specificationHeld:
          if specification.isSatisfied(in: self) { return .satisfied }
          // The specification no longer holds. The run stays paused.
          run.unblockQueue()
        }
      }
    } onCancel: {
      run.end(.cancelled)
    }
    deadline?.cancel()
    run.end(.specificationHeld)
    self.report(.resumed)
    let time = self.operationDeadlines.elapsed - start
    self.reportWait(.waitEnded(StoreWait(pause), after: time, StoreEvent.WaitEnd(outcome)))
    run.unblockQueue()
    self.send(
      OperationNotice(
        .runResumed,
        in: self,
        attributes: [
          "pause.reason": reason, "pause.outcome": .string("\(outcome)"),
          "pause.duration": .duration(self.operationDeadlines.elapsed - start),
        ]
      )
    )
    return outcome
  }
}

extension StoreEvent.WaitEnd {
  fileprivate init(_ outcome: OperationPauseOutcome) {
    self =
      switch outcome {
      case .satisfied: .satisfied
      case .cancelled: .cancelled
      case .timedOut: .timedOut
      }
  }
}

extension RunTask {
  /// Whether the current task continues on the default executor when it is resumed.
  static func isOnDefaultExecutor(isolation: (any Actor)?) -> Bool {
    guard isolation == nil else { return false }
    return withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil }
  }
}

// MARK: - Before another attempt

extension OperationContext {
  /// The specification that has to hold before an attempt other than the first begins; nil, the default, for none.
  ///
  /// A modifier that makes several attempts waits for it with ``pauseBeforeNextAttempt()``. The wait is not an attempt.
  public var operationNextAttemptSpecification: (any OperationRunSpecification & Sendable)? {
    get { self[NextAttemptSpecificationKey.self] }
    set { self[NextAttemptSpecificationKey.self] = newValue }
  }

  /// Pauses the run until ``operationNextAttemptSpecification`` holds.
  ///
  /// The pause also ends when ``operationDeadline`` passes or the task is cancelled. For modifiers that run an
  /// operation several times within one run: call it after the delay between two attempts, and before
  /// ``beginNextAttempt(after:)``.
  ///
  /// - Returns: Whether to begin another attempt: false when the task was cancelled or the deadline has passed.
  public nonisolated(nonsending) func pauseBeforeNextAttempt() async -> Bool {
    if Task.isCancelled { return false }
    guard let specification = self.operationNextAttemptSpecification else { return true }
    return await self.pause(until: specification, timeout: self.operationTimeRemaining) == .satisfied
  }

  private enum NextAttemptSpecificationKey: Key {
    static let defaultValue: (any OperationRunSpecification & Sendable)? = nil
  }
}
