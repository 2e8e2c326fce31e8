import OperationCore
import OperationRetry
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct RetryConditionTests {
  private let attempts = Attempts()

  @Test func `The condition decides whether to retry`() async {
    let operation = self.attempts.failing().retry(limit: 5) { error, _ in (error as? Refused)?.code != 3 }
    await #expect(throws: Refused(code: 3)) { try await operation.runOnce() }
    expect(self.attempts.count, equals: 3)
  }

  @Test func `A condition of one parameter receives the error`() async {
    let operation = self.attempts.failing().retry(limit: 5) { ($0 as? Refused)?.code != 2 }
    await #expect(throws: Refused(code: 2)) { try await operation.runOnce() }
    expect(self.attempts.count, equals: 2)
    let other = Attempts()
    await #expect(throws: Refused(code: 1)) {
      try await other.failing().retry(limit: 5) { error in error is CancellationError }.runOnce()
    }
  }

  @Test func `The condition receives the context of the attempt, and is not called after the last one`() async {
    let indices = Mutex<[Int?]>([])
    let operation = self.attempts.failing().retry(limit: 2) { _, context in
      indices.withLock { $0.append(context.operationRetryIndex) }
      return true
    }
    await #expect(throws: Refused(code: 3)) { try await operation.runOnce() }
    expect(indices.withLock { $0 }, equals: [nil, 0])
  }

  @Test func `A cancellation error is not retried`() async {
    let operation = Work<Int, any Error> { context, _ in
      self.attempts.note(context)
      throw CancellationError()
    }
    await #expect(throws: CancellationError.self) { try await operation.retry(limit: 3).runOnce() }
    expect(self.attempts.count, equals: 1)
  }

  @Test func `A cancellation error is retried when the condition says so`() async {
    let operation = Work<Int, any Error> { context, _ in
      self.attempts.note(context)
      throw CancellationError()
    }
    await #expect(throws: CancellationError.self) {
      try await operation.retry(limit: 3) { error, _ in error is CancellationError }.runOnce()
    }
    expect(self.attempts.count, equals: 4)
  }
}
