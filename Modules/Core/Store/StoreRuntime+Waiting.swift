extension StoreRuntime {
  /// Waits for a run that refreshes the whole value, whatever its context; without one, runs the operation.
  @inlinable
  nonisolated(nonsending) func runOrJoin() async -> Result<State.OperationValue, State.Failure> {
    let running = self.machine.withLock { machine in machine.runs.last { machine.canRefresh($0) }?.task.sharedRun }
    guard let running, case .open = WaitGraph.finding(joining: running) else {
      return await self.run(using: nil, handler: nil)
    }
    let context = self.context
    let leaving: StoreRun.Leaving = context.operationRunSharing == nil ? .lastStays : .atOnce
    let outcome = await running.outcomeIfAlive(leaving: leaving, onJoin: { context.noteJoin() })
    if let outcome { return outcome.result }
    return await self.run(using: nil, handler: nil)
  }

  /// Waits for a run of which the caller is an owner already.
  // Not inlined: callers that begin a run would allocate room for this wait, too.
  @inlinable
  @inline(never)
  nonisolated(nonsending) func join(
    _ sharedRun: StoreRun,
    _ listener: Subscriber<State>?
  ) async -> Result<State.OperationValue, State.Failure> {
    let outcome = await sharedRun.outcomeOfOwner(leaving: .atOnce)
    self.dismiss(listener)
    return outcome.result
  }

  @inlinable
  func listen(to sharedRun: StoreRun, with handler: RunHandler<State>?) -> Subscriber<State>? {
    handler.map { self.listen(to: sharedRun.id, with: $0.handler) }
  }

  @inlinable
  @inline(never)
  func listen(to run: OperationTaskIdentifier, with handler: OperationEventHandler<State>) -> Subscriber<State> {
    self.noteDependent()
    return self.machine.withLock { $0.subscribers.add(handler, role: .runListener(run)) }
  }

  /// Removes a listener after all events that are queued for it.
  @inlinable
  func dismiss(_ listener: Subscriber<State>?) {
    if let listener { self.dismissListener(listener) }
  }

  @inlinable
  @inline(never)
  func dismissListener(_ listener: Subscriber<State>) {
    self.machine.withLock { $0.eventQueue.append(.dismissal(listener)) }
    self.deliver()
  }

  /// Waits until all runs have finished, or the current task is cancelled.
  func settled() async {
    while let sharedRun = self.machine.withLock({ $0.runs.first?.task.sharedRun ?? $0.finishingRuns.first }),
      !_Concurrency.Task.isCancelled
    {
      await sharedRun.settled()
    }
  }

  /// Cancels all runs.
  ///
  /// - Returns: A function that waits until their work has ended, or the current task is cancelled.
  func cancelRuns() -> @Sendable () async -> Void {
    let sharedRuns = self.machine.withLock { machine in
      (machine.runs.map(\.task) + machine.reservedTasks).map(\.sharedRun)
    }
    self.act { for sharedRun in sharedRuns { sharedRun.cancel() } }
    return {
      for sharedRun in sharedRuns {
        await sharedRun.settled()
        // A deduplicated run finishes for its callers when it is cancelled; its work may end later.
        await sharedRun.loan?.cancelledWorkEnded()
      }
    }
  }
}
