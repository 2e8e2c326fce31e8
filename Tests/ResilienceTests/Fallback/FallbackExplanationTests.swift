import OperationCore
import OperationEvents
import OperationFallback
import OperationTesting
import TestFixtures
import Testing

/// What explanations tell of fallbacks.
@Suite(.bounded, .warningsAreIssues)
struct FallbackExplanationTests {
  private let posts = PostFixture()

  @Test func `A fallback that is shown, and its error`() async throws {
    let store = OperationStore.detached(query: self.posts.query.fallback(0).stale(after: .seconds(60)))
    self.posts.script.enqueue(.error(Refused(code: 7)))
    try await expect(store.fetch(), equals: 0)
    self.posts.clock.advance(by: .seconds(5))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 5 s ago.
        It is a fallback, because the run failed: Refused(code: 7).
        It has been stale for 5 s, because its value is a fallback.
        It has no subscribers.
        """
    )
  }

  @Test func `A value after a fallback is none, whoever has set it`() async throws {
    let store = OperationStore.detached(query: self.posts.query.fallback(0))
    func fallBack() async throws {
      self.posts.script.enqueue(.error(Refused()))
      try await store.fetch()
      expect(store.explain().value?.origin, equals: "It is a fallback, because the run failed: Refused(code: 0).")
    }
    try await fallBack()
    store.currentValue = 5
    expect(store.explain().value?.origin, equals: nil)
    try await fallBack()
    self.posts.script.enqueue(.value(6))
    try await store.fetch()
    expect(store.explain().value?.origin, equals: nil)
    try await fallBack()
    store.resetState()
    expect(store.explain().value, equals: nil)
    self.posts.script.enqueue(.value(7))
    try await store.fetch()
    expect(store.explain().value?.origin, equals: nil)
  }

  @Test func `An attempt that succeeds after a fallback`() async throws {
    let query = self.posts.query.fallback(0).modifier(AgainForZero())
    let store = OperationStore.detached(query: query)
    self.posts.script.enqueue(.error(Refused()), .value(3))
    try await expect(store.fetch(), equals: 3)
    #expect(store.explain().value != nil && store.explain().value?.origin == nil)
  }

  @Test func `An error that is secret`() async throws {
    let store = OperationStore.detached(query: self.posts.query.fallback(0))
    self.posts.script.enqueue(.error(Leak(text: "hush")))
    try await store.fetch()
    expect(store.explain().value?.origin, equals: "It is a fallback, because the run failed: Leak.")
  }
}

/// Runs an operation again when its value is zero.
private struct AgainForZero<Operation: OperationRequest>: OperationModifier where Operation.Value == Int {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let value = try await operation.run(isolation: isolation, in: context, with: continuation)
    return value == 0 ? try await operation.run(isolation: isolation, in: context, with: continuation) : value
  }
}

private struct Leak: Error, OperationSecret {
  let text: String
}
