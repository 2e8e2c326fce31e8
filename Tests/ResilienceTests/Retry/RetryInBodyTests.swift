import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Operations whose bodies run other operations with their own context.
@Suite(.bounded, .warningsAreIssues) struct RetryInBodyTests {
  private let outer = Attempts()
  private let inner = Attempts()

  private func body(_ operation: some OperationRequest<Int, any Error> & Sendable) -> Work<Int, any Error> {
    Work { context, _ in
      self.outer.note(context)
      return try await operation.runWithoutSetup(in: context)
    }
  }

  @Test(arguments: [true, false])
  func `Both operations have their own retries`(isSetUp: Bool) async {
    let operation = self.body(self.inner.failing().retry(limit: 1)).retry(limit: 2)
    await #expect(throws: Refused(code: 6)) { try await operation.run(isSetUp: isSetUp) }
    expect(self.outer.indices, equals: [nil, 0, 1])
    expect(self.inner.indices, equals: [nil, 0, nil, 0, nil, 0])
    #expect(self.outer.all.allSatisfy { $0.maximum == 2 })
    #expect(self.inner.all.allSatisfy { $0.maximum == 1 })
  }

  @Test(arguments: [true, false])
  func `The inner operation may have nested retries of its own`(isSetUp: Bool) async {
    let operation = self.body(self.inner.failing().retry(limit: 1).retry(limit: 7)).retry(limit: 3).retry(limit: 9)
    await #expect(throws: Refused(code: 8)) { try await operation.run(isSetUp: isSetUp) }
    expect(self.outer.count, equals: 4)
  }

  @Test func `An operation that is not retried does not switch off the retries of one that it runs`() async {
    let body = self.body(self.inner.failing().retry(limit: 2))
    let operation = Work<Int, any Error>(configure: { $0.operationMaxRetries = 0 }, body: body.body).retry(limit: 5)
    await #expect(throws: Refused(code: 3)) { try await operation.runOnce() }
    expect(self.outer.count, equals: 1)
    expect(self.inner.indices, equals: [nil, 0, 1])
  }

  @Test func `The body can say how often the other operation is retried`() async {
    let inner = self.inner
    let operation = Work<Int, any Error> { context, _ in
      var context = context
      context.operationMaxRetries = 0
      return try await inner.failing().retry(limit: 2).runWithoutSetup(in: context)
    }
    await #expect(throws: Refused(code: 4)) { try await operation.retry(limit: 3).runOnce() }
  }

  @Test func `A runner in the body sets the other operation up`() async {
    let inner = self.inner
    let operation = Work<Int, any Error> { context, _ in
      try await inner.failing { $0.operationMaxRetries = 2 }.retry(limit: 5).retry(limit: 6).runOnce(in: context)
    }
    await #expect(throws: Refused(code: 6)) { try await operation.retry(limit: 1).runOnce() }
    expect(self.inner.indices, equals: [nil, 0, 1, nil, 0, 1])
  }

  @Test func `A value that runs itself in a retry begins with a first attempt`() async throws {
    let operations = Mutex<ModifiedOperation<Work<Int, any Error>, Retry<Work<Int, any Error>>>?>(nil)
    let body = Work<Int, any Error> { context, _ in
      let number = self.inner.note(context)
      guard number < 4 else { return number }
      guard number == 2, let operation = operations.withLock({ $0 }) else { throw Refused() }
      return try await operation.runWithoutSetup(in: context)
    }
    let operation = body.retry(limit: 1)
    operations.withLock { $0 = operation }
    defer { operations.withLock { $0 = nil } }
    try await expect(operation.runOnce(), equals: 4)
    expect(self.inner.indices, equals: [nil, 0, nil, 0])
  }

  @Test func `An operation may run itself`() async {
    let countdown = Countdown(attempts: self.inner)
    await #expect(throws: Refused.self) { try await countdown.retried.runOnce(in: .withoutDelays) }
    // Each of the three levels is tried twice for each attempt of the one above it.
    expect(self.inner.count, equals: 2 + 4 + 8)
  }
}

/// An operation that runs itself with a retry until the level is 0, and then fails.
private struct Countdown: OperationRequest, Sendable {
  let attempts: Attempts
  var level = 2

  var retried: ModifiedOperation<Self, Retry<Self>> { self.retry(limit: 1) }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    self.attempts.note(context)
    guard self.level > 0 else { throw Refused() }
    return try await Countdown(attempts: self.attempts, level: self.level - 1).retried.runWithoutSetup(in: context)
  }
}
