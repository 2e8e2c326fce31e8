import FoundationEssentials
import OperationAudit
import OperationCore
import OperationDedupe
import OperationRetry
import OperationTesting
import Testing

/// What the records say.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct RecordTests {
  private let script = OperationScript<Int, any Error>()
  private let clock = ManualClock()
  private let trail = AuditTrail()

  @Test
  func `A record has the name, the principal, the beginning and the duration of a run`() async throws {
    let query = self.script.query()
      .audited(in: self.trail)
      .manualTime(self.clock)
      .context { $0.auditPrincipal = "anna" }
    let store = OperationStore.detached(query: query)
    self.clock.advance(by: .seconds(10))
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    #expect(self.trail.activeCount == 1)
    #expect(self.trail.records.isEmpty)
    self.clock.advance(by: .milliseconds(1500))
    // A change of the date does not change how long the run takes.
    let date = self.clock.now().addingTimeInterval(-1.5)
    self.clock.setDate(.distantFuture)
    run.succeed(1)
    _ = try await fetch.value

    let record = try #require(self.trail.records.first)
    #expect(record.operationName == query.operationName)
    #expect(record.principal == "anna")
    #expect(record.beganAt == date)
    #expect(record.duration == .milliseconds(1500))
    #expect(record.outcome == .succeeded)
    #expect(record.attempt == 1)
    #expect(record.parentID == nil)
    #expect(self.trail.activeCount == 0)
    #expect(self.trail.recordCount == 1)
  }

  @Test
  func `An error is recorded in words, and thrown as it is`() async throws {
    self.script.enqueue(.error(Refused(code: 7)))
    let runner = OperationRunner(operation: self.script.operation().audited(in: self.trail))
    await #expect(throws: Refused(code: 7)) { try await runner.run() }
    #expect(self.trail.records.map(\.outcome) == [.failed("refused with 7")])
  }

  @Test(arguments: [true, false])
  func `A cancelled run is no failure, whatever error it throws`(_ throwsCancellationError: Bool) async throws {
    let script = OperationScript<Int, any Error>(endsOnCancellation: throwsCancellationError)
    let runner = OperationRunner(operation: script.operation().audited(in: self.trail))
    let task = Task { try await runner.run() }
    let run = try await script.next()
    task.cancel()
    try await run.cancelled()
    run.fail(Refused(code: 1))
    _ = await task.result
    #expect(self.trail.records.map(\.outcome) == [.cancelled])
  }

  @Test
  func `A run whose task was cancelled and that returns a value has succeeded`() async throws {
    let script = OperationScript<Int, any Error>(endsOnCancellation: false)
    let runner = OperationRunner(operation: script.operation().audited(in: self.trail))
    let task = Task { try await runner.run() }
    let run = try await script.next()
    task.cancel()
    run.succeed(1)
    #expect(try await task.value == 1)
    #expect(self.trail.records.map(\.outcome) == [.succeeded])
  }

  @Test
  func `The operation reads the identifier of its record, and runs inside of it are its parts`() async throws {
    let other = AuditTrail()
    let (inner, trail) = (self.script, self.trail)
    let outer = Outer { context in
      #expect(context.auditID == 1)
      _ = try await OperationRunner(operation: inner.operation().audited(in: trail)).run(in: context)
      // A part of a run is one in the same trail.
      _ = try await OperationRunner(operation: inner.operation().audited(in: other)).run(in: context)
    }
    inner.enqueue(.value(1), .value(2))
    try await OperationRunner(operation: outer.audited(in: trail)).run()
    #expect(trail.records.map(\.id) == [2, 1])
    #expect(trail.records.map(\.parentID) == [1, nil])
    #expect(other.records.map(\.parentID) == [nil])
    #expect(OperationContext().auditID == nil)
  }

  @Test
  func `Inside of a retry each attempt has a record, outside of it they have one`() async throws {
    self.script.enqueue(.error(Refused(code: 1)), .value(2), .error(Refused(code: 3)), .value(4))
    let each = self.script.query().audited(in: self.trail).retry(limit: 1)
    _ = try await OperationStore.detached(query: each, initialContext: .withoutDelays).fetch()
    #expect(self.trail.records.map(\.attempt) == [1, 2])
    #expect(self.trail.records.map(\.outcome) == [.failed("refused with 1"), .succeeded])

    let all = AuditTrail()
    let once = self.script.query().retry(limit: 1).audited(in: all)
    _ = try await OperationStore.detached(query: once, initialContext: .withoutDelays).fetch()
    #expect(all.records.map(\.attempt) == [1])
    #expect(all.records.map(\.outcome) == [.succeeded])
  }

  @Test
  func `Callers that share a run have one record inside of the deduplication`() async throws {
    let shared = OperationRunner(operation: self.script.operation().audited(in: self.trail).deduplicated())
    let tasks = (1...3).map { _ in Task.immediate { try await shared.run() } }
    try await self.script.next().succeed(5)
    for task in tasks { #expect(try await task.value == 5) }
    #expect(self.trail.records.count == 1)

    let each = AuditTrail()
    let runner = OperationRunner(operation: self.script.operation().deduplicated().audited(in: each))
    let others = (1...3).map { _ in Task.immediate { try await runner.run() } }
    try await self.script.next().succeed(6)
    for task in others { #expect(try await task.value == 6) }
    #expect(each.records.map(\.id).sorted() == [1, 2, 3])
  }
}

/// What a server says when it does not do what it is asked for.
struct Refused: Error, Equatable, CustomStringConvertible {
  let code: Int

  var description: String { "refused with \(self.code)" }
}

/// An operation that runs other operations in its context.
private struct Outer: OperationRequest, Sendable {
  let body: @Sendable (OperationContext) async throws -> Void

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    try await self.body(context)
  }
}
