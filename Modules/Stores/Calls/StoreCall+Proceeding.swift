internal import Synchronization

extension StoreCall {
  /// Passes the call on, to the next interceptor or to a run, and waits for the answer.
  ///
  /// Behind the last interceptor the call joins a run or starts one. That counts as a join, whatever the interceptor
  /// returns. A cancelled caller leaves the run, and the last one to leave cancels it. Called again, the method goes on
  /// with that wait, and returns the same answer after it.
  ///
  /// - Precondition: The interceptor has not returned, and does not wait in another call of this method.
  /// - Returns: The answer: of the next interceptor, or the outcome of the run.
  public nonisolated(nonsending) func proceed() async -> StoreCallAnswer {
    var (step, number) = (self.step(mayWaitApart: false), self.invalidation)
    while true {
      switch step {
      case .answer(let answer): return answer
      case .start(let run, let context): return self.ended(await self.runtime.wait(startingIn: context, run), of: run)
      case .wait(.run(let run)):
        let outcome = await self.runtime.wait(for: run)
        guard let next = self.step(afterLate: outcome, of: run, since: &number) else {
          return self.ended(outcome, of: run)
        }
        step = next
      case .wait(.interceptor(let call)): return self.ended(await call.answer(), after: .interceptor(call))
      case .wait(.apart(let task)): return self.ended(await task.answer(), after: .apart(task))
      }
    }
  }

  /// Passes the call on, and waits for the answer for some time.
  ///
  /// If it takes longer, the run is not left: the interceptor can proceed again, or answer otherwise, and the run goes on
  /// to the state in any case. The next interceptor runs in a task of its own, so that this one can go on.
  ///
  /// - Parameter patience: The longest wait, by the deadlines of the context. With zero or less, the answer is nil unless
  ///   it is there at once.
  /// - Returns: The answer; nil if it takes longer.
  /// - Precondition: As for ``proceed()``.
  public nonisolated(nonsending) func proceed(within patience: Duration) async -> StoreCallAnswer? {
    // Behind a cancelled caller nothing begins in a task of its own, which is not cancelled.
    var (step, number) = (self.step(mayWaitApart: !Task.isCancelled), self.invalidation)
    while true {
      switch step {
      case .answer(let answer): return answer
      case .start(let run, let context):
        let wait = PatientWait(for: run, within: patience, on: self.context)
        return self.endedOrPaused(await self.runtime.wait(startingIn: context, wait), of: run)
      case .wait(.run(let run)):
        let wait = PatientWait(for: run, within: patience, on: self.context)
        let outcome = await self.runtime.wait(startingIn: nil, wait)
        guard let outcome, let next = self.step(afterLate: outcome, of: run, since: &number) else {
          return self.endedOrPaused(outcome, of: run)
        }
        step = next
      case .wait(.interceptor(let call)): return self.ended(await call.answer(), after: .interceptor(call))
      case .wait(.apart(let task)):
        guard let answer = await task.answer(within: patience, on: self.context) else {
          self.pause(.apart(task))
          return nil
        }
        return self.ended(answer, after: .apart(task))
      }
    }
  }

  /// The next step of a call that is passed on.
  private enum Step {
    case answer(StoreCallAnswer)
    /// To start a run in this context, and to wait for it.
    case start(SharedRun, OperationContext)
    case wait(Wait)
  }

  private func step(mayWaitApart: Bool) -> Step {
    let former = self.phase.withLock { phase in
      defer {
        switch phase {
        case .new: phase = .beginning
        case .paused(let wait): phase = .waiting(wait)
        case .beginning, .waiting, .ended, .answered: break
        }
      }
      return phase
    }
    switch former {
    case .new: return self.begin(mayWaitApart: mayWaitApart)
    case .paused(let wait): return self.step(afterPauseIn: wait)
    case .ended(let answer, _): return .answer(answer)
    case .beginning, .waiting: preconditionFailure("A call of a store can be passed on once at a time.")
    case .answered: preconditionFailure("A call of a store cannot be passed on after its interceptor has returned.")
    }
  }

  /// The next step of a call that waits again. Its run may wait for the caller by now.
  private func step(afterPauseIn wait: Wait) -> Step {
    guard WaitGraph.isNeeded, let run = wait.sharedRun else { return .wait(wait) }
    let finding = WaitGraph.noteAndFind(joining: run)
    if case .open = finding { return .wait(wait) }
    guard case .recursion(let names) = finding, OperationCycleError.isFailure(self.runtime.operation.failureType) else {
      EnclosingRun.note(awaited: run)
      return .wait(wait)
    }
    wait.leave()
    return .answer(self.refused(names))
  }

  private func begin(mayWaitApart: Bool) -> Step {
    if let next = self.next {
      let wait = mayWaitApart ? Wait.apart(CallInTask(next)) : .interceptor(next)
      self.phase.withLock { $0 = .waiting(wait) }
      // It begins when the wait is known.
      if case .apart(let task) = wait { task.begin() }
      return .wait(wait)
    }
    // An interceptor may have waited, and the value may have been invalidated meanwhile.
    if let kept, !self.runtime.hasUnansweredInvalidation {
      return .answer(self.ended(StoreCallAnswer(StoreOutcome(kept)), after: nil))
    }
    return self.admit()
  }

  /// The next step after a run that the call has joined, if its value has missed an invalidation that may have come before the
  /// call; nil if the outcome is the answer.
  private func step(afterLate outcome: RunOutcome, of run: SharedRun, since number: inout Int) -> Step? {
    guard outcome.isSuccess, !Task.isCancelled,
      self.runtime.hasMissedInvalidation(since: number, of: run, in: self.context)
    else { return nil }
    number = InvalidationNumber.latest
    if let listener { self.runtime.retire(listener) }
    return self.admit()
  }

  /// Joins a run, or makes one.
  private func admit() -> Step {
    switch self.runtime.admit(self) {
    case .newRun(let run, let context):
      self.phase.withLock { $0 = .waiting(.run(run)) }
      return .start(run, context)
    case .join(let run):
      self.phase.withLock { $0 = .waiting(.run(run)) }
      return .wait(.run(run))
    case .refusal(let names): return .answer(self.refused(names))
    }
  }

  private func refused(_ names: [String]) -> StoreCallAnswer {
    let outcome = RunOutcome.cycle(names, as: self.runtime.operation.failureType)
    return self.ended(StoreCallAnswer(StoreOutcome(outcome)), after: nil)
  }

  private func ended(_ answer: StoreCallAnswer, after wait: Wait?) -> StoreCallAnswer {
    self.phase.withLock { $0 = .ended(answer, wait) }
    return answer
  }

  private func ended(_ outcome: RunOutcome, of run: SharedRun) -> StoreCallAnswer {
    self.ended(StoreCallAnswer(StoreOutcome(outcome, isCancelled: run.isCancelled)), after: .run(run))
  }

  /// Nil, with the caller as an owner of the run, if the outcome is nil.
  private func endedOrPaused(_ outcome: RunOutcome?, of run: SharedRun) -> StoreCallAnswer? {
    guard let outcome else {
      self.pause(.run(run))
      return nil
    }
    return self.ended(outcome, of: run)
  }

  private func pause(_ wait: Wait) {
    self.phase.withLock { $0 = .paused(wait) }
    EnclosingRun.noteWaitEnded()
  }
}

// MARK: - The end

extension StoreCall {
  /// Whether an answer has the types of the store. Another one, which a call of another store has made, is reported.
  func isAcceptable(_ answer: StoreCallAnswer) -> Bool {
    if answer.entries == nil, case .ended(let own, _) = self.phase.withLock({ $0 }),
      own.outcome.base === answer.outcome.base
    {
      return true
    }
    if self.runtime.returns(answer.outcome.base) { return true }
    OperationWarning(
      code: .stateMismatch,
      message: """
        An interceptor has answered a call of \(self.runtime.operationName) with an answer to a call of another store. \
        The caller gets the outcome of a run; return an answer that the call itself has made.
        """
    ).report()
    return false
  }

  /// Ends the call after its interceptor has returned.
  ///
  /// A call that still owns a run leaves the run to the state. If the caller was cancelled, the call gives the run up.
  ///
  /// - Parameter answer: The answer of the interceptor.
  /// - Returns: The answer; for a cancelled caller what it gets without interceptors, as far as that is known.
  func end(with answer: StoreCallAnswer) -> StoreCallAnswer {
    let phase = self.phase.withLock { phase in
      defer { phase = .answered }
      return phase
    }
    guard Task.isCancelled else { return answer }
    switch phase {
    case .ended(let own, _): return own
    case .paused(let wait): wait.leave()
    case .new: if let kept { return StoreCallAnswer(StoreOutcome(kept)) }
    case .beginning, .waiting, .answered: break
    }
    let cancellation = RunOutcome.cancellation(as: self.runtime.operation.failureType)
    return cancellation.map { StoreCallAnswer(StoreOutcome($0)) } ?? answer
  }
}
