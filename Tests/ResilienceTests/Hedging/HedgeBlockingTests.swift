import Dispatch
import OperationCore
import OperationHedging
import OperationTesting
import TestFixtures
import Testing

/// Bodies that block their thread before they first suspend.
@Suite(.bounded, .warningsAreIssues) struct HedgeBlockingTests {
  @Test func `With an executor preference, another run begins beside one that blocks its thread`() async throws {
    let clock = ManualClock()
    let gate = DispatchSemaphore(value: 0)
    let work = Work<Int, any Error> { context, _ in
      // Only the second run lets the first one end.
      if context.operationHedgeIndex == 0 { gate.block() } else { gate.signal() }
      return context.operationHedgeIndex
    }
    let operation = work.idempotent().hedged(after: .milliseconds(50))
      .taskConfiguration { $0.executorPreference = ThreadExecutor() }
    var context = OperationContext()
    context.use(clock)
    let runner = OperationRunner(operation: operation, initialContext: context)
    let task = Task.immediate { try await runner.run(isolation: nil) }
    try await clock.sleepers(count: 1, .deadline)
    clock.advance(by: .milliseconds(50))
    let value = try await withTimeLimit("the hedged run") { try await task.value }
    #expect(value == 0 || value == 1)
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
