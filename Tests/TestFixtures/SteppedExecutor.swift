import Synchronization

/// An executor whose jobs run when a test says so, on the test's thread: what they do is the same each time.
package final class SteppedExecutor: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    self.jobs.withLock { $0.append(job) }
  }

  /// Runs all jobs, and those that they add, until there are none.
  package func runAll() { while self.runNext() {} }

  /// Runs the job that was added first. Returns false if there is none.
  package func runNext() -> Bool {
    guard let job = self.jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
    job.runSynchronously(on: self.asUnownedTaskExecutor())
    return true
  }
}
