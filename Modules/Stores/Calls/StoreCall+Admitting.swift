/// A call of a store with interceptors:
///
/// 1. ``intercept(_:using:kept:_:)`` makes a ``StoreCall`` for the outermost interceptor.
/// 2. ``StoreCall/proceed()`` makes one for the next interceptor. Behind the last, ``admit(_:)`` joins a run or makes
///    one, and the call waits for it.
/// 3. ``StoreCall/end(with:)`` hands a run that the call has left over to the state, after its interceptor has returned.
extension StoreRuntime {
  /// Lets the interceptors of the store answer a call.
  ///
  /// - Parameters:
  ///   - demand: What the caller asks for.
  ///   - context: Entries for the run; nil for none.
  ///   - kept: The value of the state, if that is what the caller asks for.
  ///   - listener: Receives the events of the run, and the answer.
  /// - Returns: The outcome of a run, or another answer; nil if there are no interceptors.
  // Not inlined: most stores have no interceptors.
  @inline(never)
  nonisolated(nonsending) func intercept(
    _ demand: StoreCall.Demand,
    using context: OperationContext?,
    kept: RunOutcome? = nil,
    _ listener: Subscriber? = nil
  ) async -> RunOutcome? {
    // The parameter is shadowed so that it is released before the caller suspends.
    let context = self.runContext(context)
    let interceptors = context.callInterceptors
    // A context that was assigned to the store may lack the interceptors.
    if interceptors.isEmpty { return nil }
    let call = StoreCall(of: self, demand, context, kept: kept, listener, interceptors)
    let answer = await call.answer()
    if let listener { self.announce(answer, in: context, to: listener) }
    return answer.outcome.base
  }

  /// Whether the interceptors let a reader that does not wait start a run.
  // Not inlined: most stores have no interceptors.
  @inline(never)
  package func mayRefresh(because cause: @autoclosure () -> OperationRunCause) -> Bool {
    if !self.interceptsCalls { return true }
    let cause = cause()
    return self.context.callInterceptors.allSatisfy { $0.mayRefresh(self.reference, because: cause) }
  }

  /// Notifies the handler of a call of an answer that is not the outcome of its run, and removes the handler.
  @inline(never)
  private func announce(_ answer: StoreCallAnswer, in context: OperationContext, to listener: Subscriber) {
    let context = answer.entries.map { context.adding($0).stoppingClock() }
    if context != nil { self.noteDependent() }
    self.withMachine { machine in
      // An interceptor in a task of its own may start a run later, which this handler does not follow.
      listener.hasAnswer = true
      if let context {
        // A caller that has waited for no run gets a number of its own.
        if !machine.subscribers.contains(listener) {
          machine.subscribers.add(listener, role: .runListener(OperationTaskIdentifier.next()))
        }
        let change = StoreChange(bringsResult: true, lifecycle: .ended)
        machine.queue(change, result: answer.outcome.base, context, run: nil, addressee: listener)
      }
      machine.eventQueue.append(.dismissal(listener))
    }
    self.deliver()
  }
}

// MARK: - Admission

extension StoreRuntime {
  /// Joins a run for a call, or makes one. The caller is an owner of it.
  func admit(_ call: StoreCall) -> RunAdmission {
    let admission = self.admission(of: call)
    if EnclosingRun.notesWaits {
      switch admission {
      case .newRun(let run, _), .join(let run): EnclosingRun.note(awaited: run)
      case .refusal: break
      }
    }
    if case .newRun(let run, _) = admission, let listener = call.listener { self.listen(to: run, with: listener) }
    return admission
  }

  private func admission(of call: StoreCall) -> RunAdmission {
    if call.demand != .run, let running = self.ownedRefresh(call) { return .join(running) }
    guard let sharing = call.context.operationRunSharing else {
      return .newRun(self.makeRun(in: call.context, ownerCount: 1), call.context)
    }
    return self.admission(call.context, sharing, call.listener)
  }

  /// A run that refreshes the whole value, with the caller as a new owner; nil if there is no run to wait for.
  private func ownedRefresh(_ call: StoreCall) -> SharedRun? {
    let running = self.withMachine { $0.runToJoin }
    guard let running, case .open = WaitGraph.noteAndFind(joining: running),
      self.addOwner(to: running, call.listener)
    else { return nil }
    return running
  }
}

// MARK: - Waiting

extension StoreRuntime {
  /// Starts a run that the caller owns, and waits for its outcome.
  @inline(never)
  nonisolated(nonsending) func wait(startingIn context: OperationContext, _ run: SharedRun) async -> RunOutcome {
    let wait = self.toldWait
    let outcome = await run.startAndWait(in: context, leaving: run.leaving, isAlreadyOwner: true)
    wait?.end()
    return outcome
  }

  /// Waits for a run that the caller owns.
  @inline(never)
  nonisolated(nonsending) func wait(for run: SharedRun) async -> RunOutcome {
    let wait = self.toldWait
    let outcome = await run.waitAsOwner(leaving: run.leaving)
    wait?.end()
    return outcome
  }

  /// Waits for a run that the caller owns, for some time. Nil if it takes longer.
  @inline(never)
  nonisolated(nonsending) func wait(startingIn context: OperationContext?, _ wait: PatientWait) async -> RunOutcome? {
    let told = self.toldWait
    let outcome = await wait.run.outcome(wait, startingIn: context)
    told?.end()
    return outcome
  }
}

// MARK: - Outcomes with the types of the operation

extension StoreRuntime {
  /// Whether a run of the operation can have this outcome, by its type.
  func returns(_ outcome: RunOutcome) -> Bool {
    func isValue<Value: Sendable>(of type: Value.Type) -> Bool { outcome is RunSuccess<Value> }
    func isError<Failure: Error>(of type: Failure.Type) -> Bool { outcome is RunFailure<Failure> }
    let storage = self.operation.storage
    return outcome.isSuccess ? isValue(of: storage.valueType) : isError(of: storage.failureType)
  }

  /// A value as the outcome of a run; nil if runs return values of another type.
  func outcome<Value: Sendable>(of value: Value) -> RunOutcome? {
    let outcome = RunSuccess(value)
    if self.returns(outcome) { return outcome }
    func cast<Other: Sendable>(to type: Other.Type) -> RunOutcome? { (value as? Other).map { RunSuccess($0) } }
    return cast(to: self.operation.storage.valueType)
  }

  /// An error as the outcome of a run; nil if runs throw errors of another type.
  func outcome(throwing error: any Error) -> RunOutcome? {
    func cast<Failure: Error>(to type: Failure.Type) -> RunOutcome? { (error as? Failure).map { RunFailure($0) } }
    return cast(to: self.operation.storage.failureType)
  }
}
