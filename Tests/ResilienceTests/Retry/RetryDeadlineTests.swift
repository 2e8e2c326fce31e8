import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct RetryDeadlineTests {
  private let attempts = Attempts()
  private let clock = ManualClock()

  private func context(deadlineAfter time: Duration) -> OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    context.operationDeadline = self.clock.instant + time
    context.operationBackoffFunction = .constant(.seconds(4))
    return context
  }

  @Test func `A retry does not sleep past the deadline`() async throws {
    let notices = Mutex<[OperationNotice]>([])
    let operation = self.attempts.failing().retry(limit: 9)
      .onNotice { notice, _ in notices.withLock { $0.append(notice) } }
    let context = self.context(deadlineAfter: .seconds(10))
    let task = Task.immediate { try await operation.runOnce(in: context) }
    for _ in 1...2 {
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .seconds(4))
    }
    // Two seconds are left, and a retry would wait for four.
    await #expect(throws: Refused(code: 3)) { try await task.value }
    #expect(self.clock.elapsed == .seconds(8) && self.clock.sleeperCount() == 0)
    expect(notices.withLock { $0.map(\.name) }, equals: [.retryPastDeadline])
    expect(notices.withLock { $0.first?.attributes }, equals: ["retry.delay": .duration(.seconds(4))])
  }

  @Test(arguments: [(Duration.seconds(4), 1), (.milliseconds(4001), 2)])
  func `An attempt that could not begin before the deadline is not begun`(time: Duration, count: Int) async throws {
    let context = self.context(deadlineAfter: time)
    let task = Task.immediate { try await self.attempts.failing().retry(limit: 9).runOnce(in: context) }
    if count == 2 {
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .seconds(4))
    }
    await #expect(throws: Refused(code: count)) { try await task.value }
  }

  @Test func `A delay that takes longer than it should begins no attempt after the deadline`() async {
    let clock = self.clock
    var context = self.context(deadlineAfter: .seconds(10))
    context.operationDelayer = RecordingDelayer { _ in clock.advance(by: .seconds(10)) }
    await #expect(throws: Refused(code: 1)) { try await self.attempts.failing().retry(limit: 9).runOnce(in: context) }
  }

  @Test func `After the deadline nothing is tried again, even without a delay`() async {
    var context = self.context(deadlineAfter: .zero)
    context.operationBackoffFunction = .noBackoff
    await #expect(throws: Refused(code: 1)) { try await self.attempts.failing().retry(limit: 9).runOnce(in: context) }
  }
}
