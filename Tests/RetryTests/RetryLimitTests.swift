import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Whose limit holds.
@Suite(.warningsAreIssues) struct RetryLimitTests {
  private let attempts = Attempts()

  @Test func `An operation that sets the limit in its setup has its way`() async {
    let unretried = self.attempts.failing { $0.operationMaxRetries = 0 }
    await #expect(throws: Failed(number: 1)) { try await unretried.retry(limit: 3).runOnce() }
    let attempts = Attempts()
    let retried = attempts.failing { $0.operationMaxRetries = 4 }
    await #expect(throws: Failed(number: 5)) { try await retried.retry(limit: 1).runOnce() }
    #expect(attempts.all.allSatisfy { $0.maximum == 4 })
  }

  @Test func `A modifier nearer to the operation has its way, one further out has not`() async {
    let inside = self.attempts.failing().context { $0.operationMaxRetries = 0 }.retry(limit: 3)
    await #expect(throws: Failed(number: 1)) { try await inside.runOnce() }
    let attempts = Attempts()
    let outside = attempts.failing().retry(limit: 3).context { $0.operationMaxRetries = 0 }
    await #expect(throws: Failed(number: 4)) { try await outside.runOnce() }
  }

  @Test func `The limit is read when the operation runs`() async {
    let store = OperationStore.detached(
      query: ScriptedQuery(OperationScript<Int, any Error>(default: .error(Failed()))).retry(limit: 3).delayer(.noDelay)
    )
    store.context.operationMaxRetries = 1
    await self.expect(runs: 2, of: store)
    #expect(store.context.operationMaxRetries == 1)
    var context = OperationContext()
    context.operationMaxRetries = 2
    await self.expect(runs: 3, of: store, using: context)
    await self.expect(runs: 2, of: store)
  }

  private func expect(
    runs: Int,
    of store: OperationStore<QueryState<Int, any Error>>,
    using context: OperationContext? = nil
  ) async {
    let attempts = Attempts()
    let delayer = RecordingDelayer()
    store.context.operationDelayer = delayer
    _ = try? await store.fetch(using: context)
    attempts.note(store.context)
    #expect(delayer.delays.count == runs - 1)
  }

  @Test func `Without a setup the limit of the retry holds, unless the context has one`() async {
    let operation = self.attempts.failing().retry(limit: 2)
    await #expect(throws: Failed(number: 3)) { try await operation.runBare() }
    #expect(self.attempts.indices == [nil, 0, 1])
    #expect(self.attempts.all.allSatisfy { $0.maximum == 2 })
    #expect(self.attempts.all.last?.isLastRun == true)
    var context = OperationContext.undelayed
    context.operationMaxRetries = 1
    await #expect(throws: Failed(number: 5)) { try await operation.runBare(in: context) }
  }
}

/// More than one retry around one operation.
@Suite(.warningsAreIssues) struct NestedRetryTests {
  private let attempts = Attempts()

  @Test(arguments: [true, false])
  func `Two retries do not multiply, and the inner one counts`(isSetUp: Bool) async {
    let operation = self.attempts.failing().retry(limit: 1).backoff(.noBackoff).retry(limit: 5)
    await #expect(throws: Failed(number: 2)) { isSetUp ? try await operation.runOnce() : try await operation.runBare() }
    #expect(self.attempts.indices == [nil, 0])
    #expect(self.attempts.all.allSatisfy { $0.maximum == 1 })
  }

  @Test(arguments: [true, false])
  func `Three retries do not multiply either`(isSetUp: Bool) async {
    let operation = self.attempts.failing().retry(limit: 2).retry(limit: 0).retry(limit: 5)
    await #expect(throws: Failed(number: 3)) { isSetUp ? try await operation.runOnce() : try await operation.runBare() }
    #expect(self.attempts.indices == [nil, 0, 1])
  }

  @Test(arguments: [true, false])
  func `An inner retry with no retries switches the outer one off`(isSetUp: Bool) async {
    let operation = self.attempts.failing().retry(limit: 0).retry(limit: 5)
    await #expect(throws: Failed(number: 1)) { isSetUp ? try await operation.runOnce() : try await operation.runBare() }
    #expect(self.attempts.all.first?.isLastRun == true)
  }

  @Test func `The inner retry's condition counts`() async {
    let operation = self.attempts.failing().retry(limit: 3, when: { _, _ in false }).retry(limit: 5)
    await #expect(throws: Failed(number: 1)) { try await operation.runOnce() }
  }

  @Test(arguments: [0, 1, 3])
  func `The operation's own limit holds for nested retries too`(limit: Int) async {
    let operation = self.attempts.failing { $0.operationMaxRetries = limit }.retry(limit: 2).retry(limit: 5)
    await #expect(throws: Failed(number: limit + 1)) { try await operation.runOnce() }
  }

  @Test func `A limit for one run holds for nested retries too`() async throws {
    let operation = self.attempts.failing().retry(limit: 2).retry(limit: 5)
    let runner = OperationRunner(operation: operation, initialContext: .undelayed)
    var context = OperationContext()
    context.operationMaxRetries = 1
    await #expect(throws: Failed(number: 2)) { try await runner.run(in: context) }
    await #expect(throws: Failed(number: 5)) { try await runner.run() }
  }

  @Test func `The inner retry is found under a default value and another's modifier`() async {
    let script = OperationScript<Int, any Error>(default: .error(Failed()))
    let query = ScriptedQuery(script).retry(limit: 1).modifier(Transparent()).defaultValue(3).retry(limit: 5)
    _ = try? await query.runBare()
    #expect(script.runCount == 2)
    _ = try? await query.runOnce()
    #expect(script.runCount == 4)
  }

  @Test func `The inner retry is found in an operation that hands its setup and its run on`() async {
    let operation = Wrapper(base: self.attempts.failing().retry(limit: 1)).retry(limit: 5)
    await #expect(throws: Failed(number: 2)) { try await operation.runOnce() }
    await #expect(throws: Failed(number: 4)) { try await operation.retry(limit: 7).runOnce() }
  }

  @Test func `Copies and equal operations made anew do the same`() async {
    func make() -> some OperationRequest<Int, any Error> { self.attempts.failing().retry(limit: 1).retry(limit: 5) }
    var context = OperationContext.undelayed
    make().setup(context: &context)
    let prepared = context
    await #expect(throws: Failed(number: 2)) { try await make().runBare(in: prepared) }
    await #expect(throws: Failed(number: 4)) { try await make().runBare(in: prepared) }
  }
}

/// Operations whose bodies run other operations with their own context.
@Suite(.warningsAreIssues) struct RetryInBodyTests {
  private let outer = Attempts()
  private let inner = Attempts()

  private func body(_ operation: some OperationRequest<Int, any Error> & Sendable) -> Work<Int, any Error> {
    Work { context, _ in
      self.outer.note(context)
      return try await operation.runBare(in: context)
    }
  }

  @Test(arguments: [true, false])
  func `Both operations have their own retries`(isSetUp: Bool) async {
    let operation = self.body(self.inner.failing().retry(limit: 1)).retry(limit: 2)
    await #expect(throws: Failed(number: 6)) { isSetUp ? try await operation.runOnce() : try await operation.runBare() }
    #expect(self.outer.indices == [nil, 0, 1])
    #expect(self.inner.indices == [nil, 0, nil, 0, nil, 0])
    #expect(self.outer.all.allSatisfy { $0.maximum == 2 })
    #expect(self.inner.all.allSatisfy { $0.maximum == 1 })
  }

  @Test(arguments: [true, false])
  func `The inner operation may have nested retries of its own`(isSetUp: Bool) async {
    let operation = self.body(self.inner.failing().retry(limit: 1).retry(limit: 7)).retry(limit: 3).retry(limit: 9)
    await #expect(throws: Failed(number: 8)) { isSetUp ? try await operation.runOnce() : try await operation.runBare() }
    #expect(self.outer.count == 4)
  }

  @Test func `An operation that is not retried does not switch off the retries of one that it runs`() async {
    let body = self.body(self.inner.failing().retry(limit: 2))
    let operation = Work<Int, any Error>(configure: { $0.operationMaxRetries = 0 }, body: body.body).retry(limit: 5)
    await #expect(throws: Failed(number: 3)) { try await operation.runOnce() }
    #expect(self.outer.count == 1)
    #expect(self.inner.indices == [nil, 0, 1])
  }

  @Test func `The body can say how often the other operation is retried`() async {
    let inner = self.inner
    let operation = Work<Int, any Error> { context, _ in
      var context = context
      context.operationMaxRetries = 0
      return try await inner.failing().retry(limit: 2).runBare(in: context)
    }
    await #expect(throws: Failed(number: 4)) { try await operation.retry(limit: 3).runOnce() }
  }

  @Test func `A runner in the body sets the other operation up`() async {
    let inner = self.inner
    let operation = Work<Int, any Error> { context, _ in
      try await inner.failing { $0.operationMaxRetries = 2 }.retry(limit: 5).retry(limit: 6).runOnce(in: context)
    }
    await #expect(throws: Failed(number: 6)) { try await operation.retry(limit: 1).runOnce() }
    #expect(self.inner.indices == [nil, 0, 1, nil, 0, 1])
  }

  @Test func `A value that runs itself in a retry begins with a first attempt`() async throws {
    let operations = Mutex<ModifiedOperation<Work<Int, any Error>, Retry<Work<Int, any Error>>>?>(nil)
    let body = Work<Int, any Error> { context, _ in
      let number = self.inner.note(context)
      guard number < 4 else { return number }
      guard number == 2, let operation = operations.withLock({ $0 }) else { throw Failed() }
      return try await operation.runBare(in: context)
    }
    let operation = body.retry(limit: 1)
    operations.withLock { $0 = operation }
    defer { operations.withLock { $0 = nil } }
    #expect(try await operation.runOnce() == 4)
    #expect(self.inner.indices == [nil, 0, nil, 0])
  }

  @Test func `An operation may run itself`() async {
    let countdown = Countdown(attempts: self.inner)
    await #expect(throws: Failed.self) { try await countdown.retried.runOnce(in: .undelayed) }
    // Each of the three levels is tried twice for each attempt of the one above it.
    #expect(self.inner.count == 2 + 4 + 8)
  }
}

private struct Transparent<Operation: OperationRequest>: OperationModifier {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

/// An operation of another package that wraps another one.
private struct Wrapper<Base: OperationRequest & Sendable>: OperationRequest, Sendable {
  let base: Base

  func setup(context: inout OperationContext) {
    self.base.setup(context: &context)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Base.Value, Base.Failure>
  ) async throws(Base.Failure) -> Base.Value {
    try await self.base.run(isolation: isolation, in: context, with: continuation)
  }
}

/// Runs itself, retried, until the level is 0, and fails.
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
    guard self.level > 0 else { throw Failed() }
    return try await Countdown(attempts: self.attempts, level: self.level - 1).retried.runBare(in: context)
  }
}
