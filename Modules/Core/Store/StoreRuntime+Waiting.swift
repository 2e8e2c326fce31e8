extension StoreRuntime {
  /// Waits for a run that refreshes the whole value, whatever its context; without one, runs the operation.
  nonisolated(nonsending) func runOrJoin() async -> RunOutcome {
    let running = self.withMachine { machine in machine.runs.last { machine.canRefresh($0) }?.task.sharedRun }
    guard let running, case .open = WaitGraph.noteAndFind(joining: running) else {
      return await self.run(using: nil, listener: nil)
    }
    let context = self.context
    let outcome = await running.joinIfAlive(leaving: running.leaving, onJoin: { context.noteJoin() })
    if let outcome { return outcome }
    return await self.run(using: nil, listener: nil)
  }

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
