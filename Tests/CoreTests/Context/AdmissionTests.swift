import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// What a modifier learns of who shares its run, and what it reports about its run.
@Suite(.bounded, .warningsAreIssues)
struct AdmissionTests {
  private let script = IntScript(default: .value(1))
  private let contexts = Log<OperationContext>()

  @Test
  func `A store that shares runs admits them, and no other one does`() async throws {
    let query = self.script.query().reading(self.contexts)
    _ = try await IntStore.detached(query: query.sharing()).fetch()
    _ = try await IntStore.detached(query: query).fetch()
    _ = try await OperationRunner(operation: query.sharing()).run()
    expect(self.contexts.all.map(\.isAdmittedByStore), equals: [true, false, false])
  }

  @Test
  func `The context of an admitted run admits no run of a runner`() async throws {
    let query = self.script.query().reading(self.contexts)
    _ = try await IntStore.detached(query: query.sharing()).fetch()
    let context = try #require(self.contexts.all.first)
    _ = try await OperationRunner(operation: query, initialContext: context).run()
    _ = try await OperationRunner(operation: query).run(in: context)
    expect(self.contexts.all.map(\.isAdmittedByStore), equals: [true, false, false])
    var other = context
    other.operationRunningTaskIdentifier = nil
    #expect(!other.isAdmittedByStore)
  }

  @Test
  func `A rule has the registry of its modifier`() {
    final class Registry: Sendable {}
    let registry = Registry()
    #expect(OperationRunSharing(registry: registry).registry === registry)
    #expect(OperationRunSharing().registry == nil)
  }

  @Test
  func `A modifier that shares runs outside of stores reports who joins`() async throws {
    let observer = JoinCount()
    let script = IntScript()
    let query = script.operation().modifier(OneRun()).modifier(Observed(observer: observer))
    let runner = OperationRunner(operation: query)
    let first = Task.immediate { try await runner.run() }
    let run = try await script.next()
    let second = Task.immediate { try await runner.run() }
    expect(observer.count, equals: 1)
    run.succeed(5)
    try await expect(first.finished(), equals: 5)
    try await expect(second.finished(), equals: 5)
    expect(script.runCount, equals: 1)
  }

  @Test
  func `A value is shown with the date that its run has given, and an error is not`() async throws {
    let clock = ManualClock()
    let date = clock.now().addingTimeInterval(-60)
    let query = self.script.query().modifier(Dated(date: date)).manualTime(clock)
    let store = IntStore.detached(query: query)
    _ = try await store.fetch()
    expect(store.valueLastUpdatedAt, equals: date)
    self.script.enqueue(.error(Refused()))
    _ = try? await store.fetch()
    expect(store.errorLastUpdatedAt, equals: clock.now())
    expect(store.valueLastUpdatedAt, equals: date)
  }
}

extension StatefulOperationRequest {
  /// Keeps the contexts of the runs.
  fileprivate func reading(_ contexts: Log<OperationContext>) -> ModifiedOperation<Self, Reading<Self>> {
    self.modifier(Reading(contexts: contexts))
  }

  /// Lets the callers of a store share runs.
  fileprivate func sharing() -> ModifiedOperation<Self, Sharing<Self>> { self.modifier(Sharing()) }
}

private struct Reading<Operation: OperationRequest>: OperationModifier {
  let contexts: Log<OperationContext>

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    self.contexts.append(context)
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

private struct Sharing<Operation: OperationRequest>: OperationModifier {
  func setup(context: inout OperationContext, using operation: Operation) {
    context.operationRunSharing = OperationRunSharing()
    operation.setup(context: &context)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

/// Shares one run with all callers that come while it is under way.
private struct OneRun<Operation: OperationRequest & Sendable>: OperationModifier
where Operation.Value: Sendable, Operation.Failure == any Error {
  private final class Registry: Sendable {
    let run = Mutex<Task<Operation.Value, any Error>?>(nil)
  }

  private let registry = Registry()

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    if let run = self.registry.run.withLock({ $0 }) {
      context.reportJoin()
      return try await run.value
    }
    let run = Task { try await operation.run(isolation: nil, in: context, with: continuation) }
    self.registry.run.withLock { $0 = run }
    defer { self.registry.run.withLock { $0 = nil } }
    return try await run.value
  }
}

private final class JoinCount: StoreObserver {
  private let joins = Counter()

  var count: Int { self.joins.value }

  var observedEvents: StoreEvent.Kinds { .runs }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    if case .runJoined = event.what { self.joins.increment() }
  }
}

private struct Observed<Operation: OperationRequest>: OperationModifier {
  let observer: JoinCount

  func setup(context: inout OperationContext, using operation: Operation) {
    context.operationObservers.append(self.observer)
    operation.setup(context: &context)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

/// Dates the values of an operation.
private struct Dated<Operation: OperationRequest>: OperationModifier {
  let date: Date

  func setup(context: inout OperationContext, using operation: Operation) {
    context.addEntriesToOutcomes()
    operation.setup(context: &context)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    context.dateOutcome(self.date)
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}
