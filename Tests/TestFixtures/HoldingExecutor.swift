import Synchronization

/// An executor that holds its jobs back until it is released, and then runs later jobs at once.
package final class HoldingExecutor: TaskExecutor {
  package enum Order: Sendable {
    /// Each job separately, in the order in which they came.
    case asTheyCame
    /// One job after the other, the last one first.
    case lastFirst
  }

  private struct State {
    var jobs: [UnownedJob] = []
    var isHolding = true
  }

  private let state = Mutex(State())

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isHeld = self.state.withLock { state in
      if state.isHolding { state.jobs.append(job) }
      return state.isHolding
    }
    if !isHeld { self.run([job]) }
  }

  /// Runs the jobs, and from now on all later ones at once.
  package func release(_ order: Order = .asTheyCame) {
    let jobs = self.state.withLock { state in
      state.isHolding = false
      defer { state.jobs = [] }
      return state.jobs
    }
    switch order {
    case .asTheyCame: for job in jobs { self.run([job]) }
    case .lastFirst: self.run(jobs.reversed())
    }
  }

  /// Runs the jobs one after the other, in a task of the default executor.
  private func run(_ jobs: [UnownedJob]) {
    let executor = self.asUnownedTaskExecutor()
    Task.detached { for job in jobs { job.runSynchronously(on: executor) } }
  }
}
