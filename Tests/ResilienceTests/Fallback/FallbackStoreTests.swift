import OperationCore
import OperationFallback
import OperationTesting
import TestFixtures
import Testing

/// How a store reports fallbacks.
@Suite(.bounded, .warningsAreIssues) struct FallbackStoreTests {
  /// The results that a store reports, with their marks.
  private struct Report: Hashable {
    var value: Int
    var isFallback: Bool
  }

  private func store(
    _ query: some QueryRequest<Int, any Error>,
    _ reports: Log<Report>
  ) -> (OperationStore<QueryState<Int, any Error>>, OperationSubscription) {
    let store = OperationStore.detached(query: query.disableAutomaticRunning())
    let handler = QueryEventHandler<QueryState<Int, any Error>>(onResultReceived: { result, context in
      if let value = try? result.get() { reports.append(Report(value: value, isFallback: context.isFallback)) }
    })
    return (store, store.subscribe(with: handler))
  }

  @Test func `The context of an event shows whether its result is a fallback`() async throws {
    let script = IntScript()
    script.enqueue(.error(Refused()), .value(1), .error(Refused()), .value(2))
    let reports = Log<Report>()
    let (store, subscription) = self.store(script.query().fallback(0), reports)
    for _ in 1...4 { try await store.fetch() }
    expect(
      reports.all,
      equals: [
        Report(value: 0, isFallback: true), Report(value: 1, isFallback: false), Report(value: 0, isFallback: true),
        Report(value: 2, isFallback: false),
      ]
    )
    #expect(store.error == nil)
    #expect(!store.context.isFallback)
    subscription.cancel()
  }

  @Test func `Yields before the failure are no fallbacks, and those of the other operation are`() async throws {
    let script = IntScript()
    script.enqueue(.yield(.success(1), then: .error(Refused())))
    let other = IntScript()
    other.enqueue(.yield(.success(2), then: .value(3)))
    let reports = Log<Report>()
    let (store, subscription) = self.store(script.query().fallback(to: other.query()), reports)
    try await expect(store.fetch(), equals: 3)
    expect(
      reports.all,
      equals: [
        Report(value: 1, isFallback: false), Report(value: 2, isFallback: true), Report(value: 3, isFallback: true),
      ]
    )
    subscription.cancel()
  }

  @Test func `An attempt that succeeds after a fallback is not a fallback`() async throws {
    let script = IntScript()
    script.enqueue(.error(Refused()), .value(4))
    let reports = Log<Report>()
    let (store, subscription) = self.store(script.query().fallback(0).modifier(RunTwice()), reports)
    try await expect(store.fetch(), equals: 4)
    expect(reports.all, equals: [Report(value: 4, isFallback: false)])
    subscription.cancel()
  }

  @Test func `An inner fallback counts, if the outer one is not needed`() async throws {
    let script = IntScript(default: .error(Refused()))
    let reports = Log<Report>()
    let (store, subscription) = self.store(script.query().fallback(1).fallback(2), reports)
    try await expect(store.fetch(), equals: 1)
    expect(reports.all, equals: [Report(value: 1, isFallback: true)])
    subscription.cancel()
  }

  @Test func `A fallback that fails leaves the error in the state`() async throws {
    let script = IntScript(default: .error(Refused(code: 1)))
    let reports = Log<Report>()
    let (store, subscription) = self.store(script.query().fallback { error, _ in throw error }, reports)
    await #expect(throws: Refused(code: 1)) { try await store.fetch() }
    #expect(store.error as? Refused == Refused(code: 1) && reports.all.isEmpty)
    subscription.cancel()
  }

  @Test func `Runs at the same time do not share their marks`() async throws {
    let script = IntScript()
    let reports = Log<Report>()
    let (store, subscription) = self.store(script.query().fallback(0), reports)
    let first = Task.immediate { try await store.fetch() }
    let firstRun = try await script.next()
    let second = Task.immediate { try await store.fetch() }
    let secondRun = try await script.next()
    firstRun.fail(Refused())
    try await expect(first.value, equals: 0)
    secondRun.succeed(2)
    try await expect(second.value, equals: 2)
    expect(reports.all, equals: [Report(value: 0, isFallback: true), Report(value: 2, isFallback: false)])
    subscription.cancel()
  }
}

/// Runs the operation twice and returns the second value.
private struct RunTwice<Operation: OperationRequest>: OperationModifier {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    _ = try await operation.run(isolation: isolation, in: context, with: continuation)
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}
