/// Runs the jobs of tasks on the default executor, and holds them back on request.
final class HeldExecutor: TaskExecutor {
  private struct State: Sendable {
    var isHeld = false
    var held: [UnownedJob] = []
    var running = 0
  }

  private let state = AwaitableState(State())

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isHeld = self.state.change { state in
      if state.isHeld { state.held.append(job) } else { state.running += 1 }
      return state.isHeld
    }
    if !isHeld { self.run(job) }
  }

  /// Holds back the jobs from now on.
  func hold() {
    self.state.change { $0.isHeld = true }
  }

  /// Runs the jobs that were held back, and those from now on.
  func release() {
    let held = self.state.change { state in
      state.isHeld = false
      state.running += state.held.count
      defer { state.held = [] }
      return state.held
    }
    for job in held { self.run(job) }
  }

  /// Waits until no job runs: each task on the executor is suspended, or its job is held back.
  ///
  /// - Throws: `WaitTimedOut`, or `CancellationError`.
  func idle(within limit: Duration) async throws {
    try await self.state.wait(.cancellable(limit)) { _ in
      "a run that waits for its turn to be suspended"
    } until: { state in
      state.running == 0 ? () : nil
    }
  }

  /// Waits until a job is held back.
  ///
  /// - Throws: `WaitTimedOut`, or `CancellationError`.
  func heldJob(within limit: Duration) async throws {
    try await self.state.wait(.cancellable(limit)) { _ in
      "a run to be resumed after another has left"
    } until: { state in
      state.held.isEmpty ? nil : ()
    }
  }

  private func run(_ job: UnownedJob) {
    let executor = self.asUnownedTaskExecutor()
    Task.detached {
      job.runSynchronously(on: executor)
      self.state.change { $0.running -= 1 }
    }
  }
}
