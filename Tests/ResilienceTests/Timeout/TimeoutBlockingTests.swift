import Dispatch
import OperationCore
import OperationTesting
import OperationTimeout
import TestFixtures
import Testing

/// Bodies that block their thread before they first suspend.
@Suite(.bounded, .warningsAreIssues) struct TimeoutBlockingTests {
  @Test func `With an executor preference, a timeout ends a run that blocks its thread`() async throws {
    let clock = ManualClock()
    let gate = DispatchSemaphore(value: 0)
    let work = Work<Int, any Error> { _, _ in
      gate.block()
      return 1
    }
    let operation = work.timeout(.milliseconds(50)).taskConfiguration { $0.executorPreference = ThreadExecutor() }
    let task = operation.begin(on: clock)
    try await clock.sleepers(count: 1, .deadline)
    clock.advance(by: .milliseconds(50))
    await #expect(throws: OperationTimedOut(after: .milliseconds(50))) {
      try await withTimeLimit("the timeout") { try await task.value }
    }
    gate.signal()
  }

  @Test func `Without one, the run ends first, as the documentation says`() async throws {
    let clock = ManualClock()
    let work = Work<Int, any Error> { _, _ in
      clock.advance(by: .seconds(1))  // As a body does that blocks for a second.
      return 1
    }
    try await expect(work.timeout(.milliseconds(50)).run(on: clock), equals: 1)
  }
}

extension DispatchSemaphore {
  /// Blocks the thread of an asynchronous body, as a synchronous library does.
  fileprivate func block() {
    self.wait()
  }
}

/// Runs jobs on threads that are not those of the global executor.
private final class ThreadExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "blocking", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = self.asUnownedTaskExecutor()
    self.queue.async { job.runSynchronously(on: executor) }
  }
}
