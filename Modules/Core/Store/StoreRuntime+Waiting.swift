extension StoreRuntime {
  /// Waits for a run that refreshes the whole value, whatever its context; without one, runs the operation.
  ///
  /// - Parameters:
  ///   - demand: What the caller asks for.
  ///   - call: Entries for the run that the caller makes; nil for none.
  ///   - kept: The value of the state, if that is what the caller asks for. Only interceptors are asked then.
  /// - Returns: The outcome of the run, or the answer of an interceptor.
  nonisolated(nonsending) func runOrJoin(
    _ demand: StoreCall.Demand,
    using call: OperationContext? = nil,
    kept: RunOutcome? = nil
  ) async -> RunOutcome {
    if self.interceptsCalls, let outcome = await self.intercept(demand, using: call, kept: kept) { return outcome }
    if let kept { return kept }
    guard let running = self.withMachine({ $0.runToJoin }), case .open = WaitGraph.noteAndFind(joining: running) else {
      return await self.runOutOfLine(using: call)
    }
    var wait: ToldWait?
    let number = InvalidationNumber.latest
    let outcome = await running.joinIfAlive(
      leaving: running.leaving,
      onJoin: {
        if self.isWatched(.runs) {
          self.withMachine { self.queueJoin(of: running.id, &$0) }
          self.deliver()
        }
        wait = self.toldWait
      }
    )
    wait?.end()
    // The value of the run that was joined may have missed an invalidation that came before the call.
    if let outcome, !outcome.isSuccess || !self.hasMissedInvalidation(since: number) { return outcome }
    return await self.runOutOfLine(using: call)
  }

  /// Runs the operation, or joins a run that does the same work.
  @inline(never)
  private nonisolated(nonsending) func runOutOfLine(using call: OperationContext?) async -> RunOutcome {
    await self.runDirectly(using: call, listener: nil)
  }

  /// Begins the wait of the run that the current task works for, which waits for a run of this store from now on.
  ///
  /// Nil outside of the work of a run that is watched.
  var toldWait: ToldWait? {
    RunningOperation.exist ? self.makeToldWait() : nil
  }

  // Not inlined, like all that few callers need: each task that waits would have room for it.
  @inline(never)
  private func makeToldWait() -> ToldWait? {
    ToldWait.begin(for: "\(self.operationName) at \(ShownText.of(self.path))", at: self.path)
  }

  /// Waits, and ends what is told of the wait.
  // Not inlined: mostly there is no observer, and each caller that waits would allocate room for it.
  @inline(never)
  nonisolated(nonsending) func telling(
    _ wait: ToldWait,
    _ body: nonisolated(nonsending) () async -> RunOutcome
  ) async -> RunOutcome {
    let outcome = await body()
    wait.end()
    return outcome
  }

  /// Whether a run that refreshes the whole value is under way, or about to start.
  var isRefreshing: Bool { self.withMachine { $0.runToJoin != nil } }

  /// Whether all runs have finished, and all their notifications were sent.
  var isSettled: Bool { self.withMachine { $0.runs.isEmpty && $0.finishingRuns.isEmpty } }

  /// Waits until all runs have finished, or the current task is cancelled.
  func settled() async {
    while let sharedRun = self.withMachine({ $0.runs.first?.task.sharedRun ?? $0.finishingRuns.first }),
      !Task.isCancelled
    {
      await sharedRun.settled()
    }
  }

  /// Cancels all runs.
  ///
  /// - Returns: A function that waits until their work has ended, or the current task is cancelled.
  func cancelRuns() -> @Sendable () async -> Void {
    let sharedRuns = self.withMachine { machine in
      (machine.runs.map(\.task) + machine.reservedTasks).map(\.sharedRun)
    }
    self.act { for sharedRun in sharedRuns { sharedRun.cancel() } }
    return {
      for sharedRun in sharedRuns { await sharedRun.settled() }
    }
  }
}

extension StoreMachine {
  /// The run that refreshes the whole value for a new caller, under way or about to start; nil if there is none.
  var runToJoin: SharedRun? {
    if let run = self.runs.last(where: { self.canRefresh($0) }) { return run.task.sharedRun }
    return self.reservedTasks.last { $0.sharedRun.isAlive && self.state.isReplaced(by: $0) }?.sharedRun
  }
}
