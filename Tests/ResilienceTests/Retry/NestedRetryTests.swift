import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import TestFixtures
import Testing

/// More than one retry around one operation.
@Suite(.bounded, .warningsAreIssues) struct NestedRetryTests {
  private let attempts = Attempts()

  @Test(arguments: [true, false])
  func `Two retries do not multiply, and the inner one counts`(isSetUp: Bool) async {
    let operation = self.attempts.failing().retry(limit: 1).backoff(.noBackoff).retry(limit: 5)
    await #expect(throws: Refused(code: 2)) { try await operation.run(isSetUp: isSetUp) }
    expect(self.attempts.indices, equals: [nil, 0])
    #expect(self.attempts.all.allSatisfy { $0.maximum == 1 })
  }

  @Test(arguments: [true, false])
  func `Three retries do not multiply either`(isSetUp: Bool) async {
    let operation = self.attempts.failing().retry(limit: 2).retry(limit: 0).retry(limit: 5)
    await #expect(throws: Refused(code: 3)) { try await operation.run(isSetUp: isSetUp) }
    expect(self.attempts.indices, equals: [nil, 0, 1])
  }

  @Test(arguments: [true, false])
  func `An inner retry with no retries switches the outer one off`(isSetUp: Bool) async {
    let operation = self.attempts.failing().retry(limit: 0).retry(limit: 5)
    await #expect(throws: Refused(code: 1)) { try await operation.run(isSetUp: isSetUp) }
    expect(self.attempts.all.first?.isLastRun, equals: true)
  }

  @Test func `The inner retry's condition applies`() async {
    let operation = self.attempts.failing().retry(limit: 3, when: { _, _ in false }).retry(limit: 5)
    await #expect(throws: Refused(code: 1)) { try await operation.runOnce() }
  }

  @Test(arguments: [0, 1, 3])
  func `The operation's own limit applies to nested retries, too`(limit: Int) async {
    let operation = self.attempts.failing { $0.operationMaxRetries = limit }.retry(limit: 2).retry(limit: 5)
    await #expect(throws: Refused(code: limit + 1)) { try await operation.runOnce() }
  }

  @Test func `A limit for one run applies to nested retries, too`() async throws {
    let operation = self.attempts.failing().retry(limit: 2).retry(limit: 5)
    let runner = OperationRunner(operation: operation, initialContext: .withoutDelays)
    var context = OperationContext()
    context.operationMaxRetries = 1
    await #expect(throws: Refused(code: 2)) { try await runner.run(in: context) }
    await #expect(throws: Refused(code: 5)) { try await runner.run() }
  }

  @Test func `The inner retry is found under a default value and another's modifier`() async {
    let script = OperationScript<Int, any Error>(default: .error(Refused()))
    let query = ScriptedQuery(script).retry(limit: 1).modifier(PassThrough()).defaultValue(3).retry(limit: 5)
    _ = try? await query.runWithoutSetup(in: .withoutDelays)
    expect(script.runCount, equals: 2)
    _ = try? await query.runOnce()
    expect(script.runCount, equals: 4)
  }

  @Test func `The inner retry is found in an operation that forwards its setup and its run`() async {
    let operation = Wrapper(base: self.attempts.failing().retry(limit: 1)).retry(limit: 5)
    await #expect(throws: Refused(code: 2)) { try await operation.runOnce() }
    await #expect(throws: Refused(code: 4)) { try await operation.retry(limit: 7).runOnce() }
  }

  @Test func `Copies and equal operations made anew do the same`() async {
    func make() -> some OperationRequest<Int, any Error> { self.attempts.failing().retry(limit: 1).retry(limit: 5) }
    var context = OperationContext.withoutDelays
    make().setup(context: &context)
    let prepared = context
    await #expect(throws: Refused(code: 2)) { try await make().runWithoutSetup(in: prepared) }
    await #expect(throws: Refused(code: 4)) { try await make().runWithoutSetup(in: prepared) }
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
