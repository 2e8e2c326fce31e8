import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct RetryCancellationTests {
  private let attempts = Attempts()

  @Test func `A run that is cancelled in an attempt ends with its error, without a delay`() async {
    let delayer = RecordingDelayer()
    let operation = Work<Int, any Error> { context, _ in
      let number = self.attempts.note(context)
      if number == 2 { cancelCurrentTask() }
      throw Refused(code: number)
    }
    let task = Task {
      try await operation.retry(limit: 5, when: { _, _ in true }).delayer(delayer).runOnce(in: OperationContext())
    }
    await #expect(throws: Refused(code: 2)) { try await task.value }
    expect(delayer.delays.count, equals: 1)
  }

  @Test func `A run that is cancelled before it begins makes one attempt`() async {
    let task = Task {
      cancelCurrentTask()
      try await self.attempts.failing().retry(limit: 5).runOnce()
    }
    await #expect(throws: Refused(code: 1)) { try await task.value }
  }

  @Test func `A cancelled delay ends at once, and the last error surfaces`() async throws {
    let clock = ManualClock()
    let task = Task {
      try await self.attempts.failing().retry(limit: 5).manualTime(clock).runOnce(in: OperationContext())
    }
    try await clock.sleepers(count: 1)
    clock.advance(by: .seconds(1))
    try await clock.sleepers(count: 1)
    task.cancel()
    await #expect(throws: Refused(code: 2)) { try await task.value }
    expect(clock.sleeperCount(), equals: 0)
    expect(clock.delays, equals: [.seconds(1), .seconds(2)])
  }

  @Test func `No attempt follows a delay that ignores its cancellation`() async {
    let delayer = IgnoringDelayer()
    let task = Task {
      try await self.attempts.failing().retry(limit: 5).delayer(delayer).runOnce(in: OperationContext())
    }
    await #expect(throws: Refused(code: 1)) { try await task.value }
  }

  @Test func `A delayer that fails ends the retries, and the last error surfaces`() async {
    let delayer = RecordingDelayer { count in if count == 2 { throw Refused(code: 99) } }
    let operation = self.attempts.failing().retry(limit: 5).delayer(delayer)
    await #expect(throws: Refused(code: 2)) { try await operation.runOnce(in: OperationContext()) }
  }
}

/// A delayer that cancels its task, and does not throw.
private struct IgnoringDelayer: OperationDelayer, Sendable {
  func delay(for duration: OperationDuration) async throws {
    cancelCurrentTask()
  }
}
