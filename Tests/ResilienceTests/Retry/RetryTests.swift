import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct RetryTests {
  private let attempts = Attempts()
  private let delayer = RecordingDelayer()

  private var context: OperationContext {
    var context = OperationContext()
    context.operationDelayer = self.delayer
    return context
  }

  @Test func `A success is not retried`() async throws {
    try await expect(self.attempts.failing(times: 0).retry(limit: 3).runOnce(in: self.context), equals: 1)
    #expect(self.delayer.delays.isEmpty)
  }

  @Test func `It retries until it succeeds`() async throws {
    try await expect(self.attempts.failing(times: 2).retry(limit: 3).runOnce(in: self.context), equals: 3)
    expect(self.attempts.indices, equals: [nil, 0, 1])
    expect(self.delayer.delays, equals: [.seconds(1), .seconds(2)])
  }

  @Test(arguments: [0, 1, 2, 5])
  func `The limit counts retries, the last error surfaces, and no delay follows it`(limit: Int) async {
    let operation = self.attempts.failing().retry(limit: limit).backoff(.linear(.seconds(1)))
    await #expect(throws: Refused(code: limit + 1)) { try await operation.runOnce(in: self.context) }
    expect(self.attempts.count, equals: limit + 1)
    expect(self.delayer.delays, equals: (0..<limit).map { .seconds($0 + 1) })
  }

  @Test func `A typed failure stays what it is`() async {
    let operation = Work<Int, Refused> { context, _ throws(Refused) in
      throw Refused(code: self.attempts.note(context))
    }
    do throws(Refused) {
      try await operation.retry(limit: 2).runOnce(in: self.context)
    } catch {
      expect(error.code, equals: 3)
    }
    expect(self.attempts.count, equals: 3)
  }

  @Test func `An operation that cannot fail passes through`() async {
    let operation = Work<Int, Never> { context, _ in self.attempts.note(context) }
    await expect(operation.retry(limit: 2).runOnce(), equals: 1)
  }

  @Test func `The context holds the attempt of a run`() async {
    await #expect(throws: Refused.self) { try await self.attempts.failing().retry(limit: 2).runOnce(in: self.context) }
    expect(
      self.attempts.all,
      equals: [
        Attempts.Attempt(index: nil, maximum: 2, isFirstRun: true),
        Attempts.Attempt(index: 0, maximum: 2, isFirstRetry: true),
        Attempts.Attempt(index: 1, maximum: 2, isLastRetry: true, isLastRun: true),
      ]
    )
  }

  @Test func `The first attempt is the last one where there are no retries`() async {
    await #expect(throws: Refused.self) { try await self.attempts.failing().retry(limit: 0).runOnce(in: self.context) }
    expect(self.attempts.all, equals: [Attempts.Attempt(index: nil, maximum: 0, isFirstRun: true, isLastRun: true)])
    let context = OperationContext()
    #expect(context.operationMaxRetries == 0 && context.operationRetryIndex == nil)
    #expect(context.isFirstRunAttempt && context.isLastRunAttempt)
    #expect(!context.isFirstRetryAttempt && !context.isLastRetryAttempt)
  }

  @Test func `All attempts yield to the same continuation`() async throws {
    let operation = Work<Int, any Error> { context, continuation in
      let number = self.attempts.note(context)
      continuation.yield(number)
      if number < 3 { throw Refused() }
      return number
    }
    let yielded = Attempts()
    let continuation = OperationContinuation<Int, any Error> { _, _ in yielded.note(OperationContext()) }
    let value = try await operation.retry(limit: 5).run(isolation: nil, in: .withoutDelays, with: continuation)
    expect(value, equals: 3)
    expect(yielded.count, equals: 3)
  }

  @Test func `A run stays on the actor of its caller`() async throws {
    let attempts = self.attempts
    let work = MainActorWork { context in
      let number = attempts.note(context)
      guard number > 2 else { throw Refused() }
      return number
    }
    let operation = work.retry(limit: 2)
    let value = try await Task { @MainActor in
      try await OperationRunner(operation: operation, initialContext: .withoutDelays).run()
    }.value
    expect(value, equals: 3)
  }

  @Test func `One value runs many times at once`() async throws {
    let failing = Work<Int, any Error> { context, _ in
      guard context.isLastRunAttempt else { throw Refused() }
      return context.operationRetryIndex ?? -1
    }
    let operation = failing.retry(limit: 4)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<50 { group.addTask { try await operation.runOnce() } }
      for try await index in group { expect(index, equals: 3) }
    }
  }

  @Test func `A negative limit is reported and counts as 0`() async {
    let operation = expectWarning(.invalidArgument) { self.attempts.failing().retry(limit: -2) }
    await #expect(throws: Refused(code: 1)) { try await operation.runOnce() }
    var context = OperationContext()
    expectWarning(.invalidArgument) { context.operationMaxRetries = -1 }
    expect(context.operationMaxRetries, equals: 0)
  }

  @Test func `A retried query is a query, and the store sees one run`() async throws {
    let script = OperationScript<Int, any Error>(default: .error(Refused()))
    script.enqueue(.error(Refused()), .error(Refused()), .value(7))
    let store = OperationStore.detached(query: ScriptedQuery(script).retry(limit: 2).delayer(.noDelay))
    try await expect(store.fetch(), equals: 7)
    expect(store.currentValue, equals: 7)
    expect(store.errorUpdateCount, equals: 0)
    expect(script.runCount, equals: 3)
    expect(script.setupCount, equals: 1)
  }
}
