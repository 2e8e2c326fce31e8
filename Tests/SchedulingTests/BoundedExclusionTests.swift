import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationScheduling

/// Waits for categories that end after a time, or with a deadline inside.
@Suite(.bounded, .warningsAreIssues)
struct BoundedExclusionTests {
  private let clock = ManualClock()
  private let gate = Gate()
  private let script = Script()
  private let names = Names()
  /// The name of the operation that holds a category.
  private let holder = OperationName.of(AnyWork.self)

  private var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    return context
  }

  private func begin<Operation: OperationRequest & Sendable>(
    _ operation: Operation,
    in context: OperationContext? = nil
  ) -> Task<Operation.Value, any Error> where Operation.Value: Sendable {
    Task.immediate { [context = context ?? self.context] in
      try await OperationRunner(operation: operation, initialContext: context).run(isolation: nil)
    }
  }

  /// A run that holds a category until the gate opens.
  private func hold(_ name: String) -> Task<Void, any Error> {
    let gate = self.gate
    return self.begin(AnyWork("holder") { _ in try await gate.wait() }.mutuallyExclusive(self.names(name)))
  }

  // MARK: - The longest wait

  @Test func `A run that waits too long leaves its place to the next one`() async throws {
    let holder = self.hold("x")
    let operation = self.script.operation()
    let late = self.begin(operation.mutuallyExclusive(self.names("x"), maximumWait: .seconds(2)))
    let next = self.begin(operation.mutuallyExclusive(self.names("x"), maximumWait: .seconds(5)))
    self.clock.advance(by: .milliseconds(1_999))
    #expect(self.clock.sleeperCount() == 2 && ExclusionLock.use(of: self.slot("x")).waiting == 2)
    self.clock.advance(by: .milliseconds(1))
    let error = await #expect(throws: OperationExclusionTimedOut.self) { try await late.value }
    expect(
      error,
      equals: OperationExclusionTimedOut(categories: [self.names("x")], after: .seconds(2), holders: [self.holder])
    )
    #expect(error?.isLocalRejection == true && error?.afterAttempt().isLocalRejection == false)
    let text = "The operation did not get the category \(self.names("x")) in 2 s, held by \(self.holder)."
    expect(error?.description, equals: text)
    self.gate.open()
    try await holder.value
    try await self.script.next().succeed(1)
    try await expect(next.value, equals: 1)
    #expect(self.script.runCount == 1 && self.clock.sleeperCount() == 0)
  }

  private func slot(_ name: String) -> Int { CategoryLane.lanes(of: [self.names(name)])[0].slot }

  @Test func `A run that needs no wait has no timer`() async throws {
    let task = self.begin(self.script.operation().mutuallyExclusive(self.names("x"), maximumWait: .seconds(2)))
    let run = try await self.script.next()
    expect(self.clock.sleeperCount(), equals: 0)
    self.clock.advance(by: .seconds(3))
    run.succeed(1)
    try await expect(task.value, equals: 1)
  }

  @Test func `Without any time a run waits for nothing, and a free category is taken`() async throws {
    let operation = self.script.operation().mutuallyExclusive(self.names("x"), maximumWait: .zero)
    let first = self.begin(operation)
    let run = try await self.script.next()
    await #expect(throws: OperationExclusionTimedOut.self) { try await self.begin(operation).value }
    expect(ExclusionLock.use(of: self.slot("x")).waiting, equals: 0)
    run.succeed(1)
    try await expect(first.value, equals: 1)
    let second = self.begin(operation)
    try await self.script.next().succeed(2)
    try await expect(second.value, equals: 2)
  }

  @Test(arguments: [Duration.seconds(-1), .seconds(Int64.min), .nanoseconds(-1)])
  func `A negative wait is reported and counts as zero`(wait: Duration) async throws {
    let holder = self.hold("x")
    let operation = expectWarning(.invalidArgument) {
      self.script.operation().mutuallyExclusive(self.names("x"), maximumWait: wait)
    }
    await #expect(throws: OperationExclusionTimedOut.self) { try await self.begin(operation).value }
    self.gate.open()
    try await holder.value
  }

  @Test(arguments: [Duration.seconds(Int64.max), Duration(attoseconds: .max)])
  func `A huge wait is possible`(wait: Duration) async throws {
    let holder = self.hold("x")
    let task = self.begin(self.script.operation().mutuallyExclusive(self.names("x"), maximumWait: wait))
    self.clock.advance(by: .seconds(1_000_000))
    expect(ExclusionLock.use(of: self.slot("x")).waiting, equals: 1)
    self.gate.open()
    try await holder.value
    try await self.script.next().succeed(1)
    try await expect(task.value, equals: 1)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `Next to each other, the shortest wait counts for all categories`() async throws {
    let holder = self.hold("b")
    let operation = self.script.operation().mutuallyExclusive(self.names("a"), maximumWait: .seconds(1))
      .mutuallyExclusive(self.names("b"), maximumWait: .seconds(5)).mutuallyExclusive(self.names("c"))
    let task = self.begin(operation)
    let waiting = self.begin(self.script.operation().mutuallyExclusive(self.names("a")))
    // It waits for the run before it, and not for a holder.
    expect(self.script.runCount, equals: 0)
    self.clock.advance(by: .seconds(1))
    let error = await #expect(throws: OperationExclusionTimedOut.self) { try await task.value }
    #expect(error?.categories == ["a", "b", "c"].map { self.names($0) } && error?.limit == .seconds(1))
    try await self.script.next().succeed(1)
    try await expect(waiting.value, equals: 1)
    self.gate.open()
    try await holder.value
  }

  @Test func `A failure type of its own maps the error, and types name categories`() async throws {
    enum Disk {}
    let gate = self.gate
    let holder = self.begin(AnyWork("holder") { _ in try await gate.wait() }.mutuallyExclusive(Disk.self))
    let typed = Work<Int, OnlyFailure> { _ throws(OnlyFailure) in 1 }
      .mutuallyExclusive(Disk.self, maximumWait: .seconds(1), else: { .denied($0.holders.joined()) })
    let task = self.begin(typed)
    self.clock.advance(by: .seconds(1))
    await #expect(throws: OnlyFailure.denied(self.holder)) { try await task.value }
    gate.open()
    try await holder.value
  }

  @Test func `Conditions around it keep the longest wait, and the source text names it`() async throws {
    let holder = self.hold("x")
    let operation = self.script.operation().mutuallyExclusive(self.names("x"), maximumWait: .seconds(1))
      .condition(Check.satisfied)
    let task = self.begin(operation)
    self.clock.advance(by: .seconds(1))
    await #expect(throws: OperationExclusionTimedOut.self) { try await task.value }
    self.gate.open()
    try await holder.value
    let text = AnyWork { _ in }.mutuallyExclusive("disk", maximumWait: .seconds(2)).modifier.sourceText
    expect(text, equals: ".mutuallyExclusive(disk, maximumWait: 2 s)")
  }

  @Test func `A wait that was too long is a notice`() async throws {
    let holder = self.hold("x")
    let notices = NoticeLog()
    var context = self.context
    context.operationNoticeObservers = [notices]
    let task = self.begin(
      self.script.operation().mutuallyExclusive(self.names("x"), maximumWait: .seconds(1)),
      in: context
    )
    self.clock.advance(by: .seconds(1))
    _ = await task.result
    expect(notices.names, equals: [.exclusionTimedOut])
    let attributes: [String: OperationNotice.Value] = [
      "exclusion.categories": .string("\(self.names("x"))"), "exclusion.limit": .duration(.seconds(1)),
    ]
    expect(notices.all.first?.attributes, equals: attributes)
    self.gate.open()
    try await holder.value
  }

  @Test func `A cancellation ends the wait before its time, and its timer`() async throws {
    let holder = self.hold("x")
    let task = self.begin(self.script.operation().mutuallyExclusive(self.names("x"), maximumWait: .seconds(1)))
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expect(self.clock.sleeperCount(), equals: 0)
    self.gate.open()
    try await holder.value
  }

  // MARK: - A deadline inside

  @Test func `A deadline inside ends the wait with its own error`() async throws {
    let holder = self.hold("x")
    let task = self.begin(
      self.script.operation().modifier(Ending(after: .seconds(3))).mutuallyExclusive(self.names("x"))
    )
    self.clock.advance(by: .seconds(3))
    await #expect(throws: Refused(code: 3)) { try await task.value }
    #expect(self.script.runCount == 0 && self.clock.sleeperCount() == 0)
    expect(ExclusionLock.use(of: self.slot("x")).waiting, equals: 0)
    self.gate.open()
    try await holder.value
  }

  @Test func `The longest wait comes before a later deadline inside`() async throws {
    let holder = self.hold("x")
    let task = self.begin(
      self.script.operation().modifier(Ending(after: .seconds(3)))
        .mutuallyExclusive(self.names("x"), maximumWait: .seconds(1))
    )
    self.clock.advance(by: .seconds(1))
    let error = await #expect(throws: OperationExclusionTimedOut.self) { try await task.value }
    expect(error?.limit, equals: .seconds(1))
    self.gate.open()
    try await holder.value
  }

  @Test func `What a fallback runs does not begin without the category`() async throws {
    let holder = self.hold("x")
    let bounded = self.script.operation().modifier(Ending(after: .seconds(3))).modifier(Replacing())
    let task = self.begin(bounded.mutuallyExclusive(self.names("x")))
    self.clock.advance(by: .seconds(3))
    let error = await #expect(throws: OperationExclusionTimedOut.self) { try await task.value }
    expect(
      error?.description,
      equals: "The operation did not get the category \(self.names("x")) before its deadline, held by \(self.holder)."
    )
    self.gate.open()
    try await holder.value
    // With the category, the fallback replaces the failure.
    let second = self.begin(bounded.mutuallyExclusive(self.names("x")))
    try await self.script.next().fail(Refused())
    try await expect(second.value, equals: -1)
  }
}

/// A deadline, as `OperationTimeout` has it: it is planned in the setup, and refuses a run for which there is no time.
private struct Ending<Operation: OperationRequest>: OperationModifier where Operation.Failure == any Error {
  let id = OutcomeModifierIdentifier()
  let limit: Duration

  init(after limit: Duration) { self.limit = limit }

  func setup(context: inout OperationContext, using operation: Operation) {
    context.planDeadline(self.id, .after(self.limit))
    operation.setup(context: &context)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    var context = context
    if let end = context.enterDeadline(self.id)?.instant, end <= context.operationDeadlines.instant {
      throw Refused(code: 3)
    }
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

/// A fallback, as `OperationFallback` has it: it says that it is around the deadlines inside.
private struct Replacing<Operation: OperationRequest>: OperationModifier where Operation.Value == Int {
  let id = OutcomeModifierIdentifier()

  func setup(context: inout OperationContext, using operation: Operation) {
    let count = context.plannedDeadlineCount
    operation.setup(context: &context)
    context.noteFallback(self.id, aroundDeadlinesAfter: count)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Int, Operation.Failure>
  ) async throws(Operation.Failure) -> Int {
    do throws(Operation.Failure) {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    } catch {
      return -1
    }
  }
}
