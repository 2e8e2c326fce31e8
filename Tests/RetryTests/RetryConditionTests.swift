import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.warningsAreIssues) struct RetryConditionTests {
  private let attempts = Attempts()

  @Test func `The condition decides, and its answer is final`() async {
    let operation = self.attempts.failing().retry(limit: 5) { error, _ in (error as? Failed)?.number != 3 }
    await #expect(throws: Failed(number: 3)) { try await operation.runOnce() }
    #expect(self.attempts.count == 3)
  }

  @Test func `The condition gets the context of the attempt, and is not asked after the last one`() async {
    let asked = Mutex<[Int?]>([])
    let operation = self.attempts.failing().retry(limit: 2) { _, context in
      asked.withLock { $0.append(context.operationRetryIndex) }
      return true
    }
    await #expect(throws: Failed(number: 3)) { try await operation.runOnce() }
    #expect(asked.withLock { $0 } == [nil, 0])
  }

  @Test func `A cancellation error is not retried`() async {
    let operation = Work<Int, any Error> { context, _ in
      self.attempts.note(context)
      throw CancellationError()
    }
    await #expect(throws: CancellationError.self) { try await operation.retry(limit: 3).runOnce() }
    #expect(self.attempts.count == 1)
  }

  @Test func `A cancellation error is retried when the condition says so`() async {
    let operation = Work<Int, any Error> { context, _ in
      self.attempts.note(context)
      throw CancellationError()
    }
    await #expect(throws: CancellationError.self) {
      try await operation.retry(limit: 3) { error, _ in error is CancellationError }.runOnce()
    }
    #expect(self.attempts.count == 4)
  }
}

@Suite(.warningsAreIssues) struct RetryCancellationTests {
  private let attempts = Attempts()

  @Test func `Cancelled in an attempt: no delay, no further attempt, and the attempt's error`() async {
    let delayer = RecordingDelayer()
    let operation = Work<Int, any Error> { context, _ in
      let number = self.attempts.note(context)
      if number == 2 { cancelCurrentTask() }
      throw Failed(number: number)
    }
    let task = Task {
      try await operation.retry(limit: 5, when: { _, _ in true }).delayer(delayer).runOnce(in: OperationContext())
    }
    await #expect(throws: Failed(number: 2)) { try await task.value }
    #expect(delayer.delays.count == 1)
  }

  @Test func `Cancelled before: one attempt`() async {
    let task = Task {
      cancelCurrentTask()
      try await self.attempts.failing().retry(limit: 5).runOnce()
    }
    await #expect(throws: Failed(number: 1)) { try await task.value }
  }

  @Test func `Cancelled in a delay: it ends at once, and the last error surfaces`() async throws {
    let clock = ManualClock()
    let task = Task {
      try await self.attempts.failing().retry(limit: 5).manualTime(clock).runOnce(in: OperationContext())
    }
    try await clock.sleepers(count: 1)
    clock.advance(by: .seconds(1))
    try await clock.sleepers(count: 1)
    task.cancel()
    await #expect(throws: Failed(number: 2)) { try await task.value }
    #expect(clock.sleeperCount() == 0)
    #expect(clock.delays == [.seconds(1), .seconds(2)])
  }

  @Test func `Cancelled in a delay that does not care: no further attempt`() async {
    let delayer = CarelessDelayer()
    let task = Task {
      try await self.attempts.failing().retry(limit: 5).delayer(delayer).runOnce(in: OperationContext())
    }
    await #expect(throws: Failed(number: 1)) { try await task.value }
  }

  @Test func `A delayer that fails ends the retries, and the last error surfaces`() async {
    let delayer = RecordingDelayer { count in if count == 2 { throw Failed(number: 99) } }
    let operation = self.attempts.failing().retry(limit: 5).delayer(delayer)
    await #expect(throws: Failed(number: 2)) { try await operation.runOnce(in: OperationContext()) }
  }
}

/// Cancels the task, and does not throw.
private struct CarelessDelayer: OperationDelayer, Sendable {
  func delay(for duration: OperationDuration) async throws {
    cancelCurrentTask()
  }
}
