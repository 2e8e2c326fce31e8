import OperationBackoff
import OperationCircuitBreaker
import OperationCore
import OperationEvents
import OperationTesting
import TestFixtures
import Testing

/// What explanations tell of circuit breakers.
@Suite(.bounded, .warningsAreIssues)
struct BreakerExplanationTests {
  private let posts = PostFixture()
  private let breaker = CircuitBreaker(name: "db", minimumRuns: 2, openFor: .constant(.seconds(30)))

  private var store: OperationStore<QueryState<Int, any Error>> {
    .detached(query: self.posts.freshQuery.circuitBreaker(self.breaker))
  }

  private func fail(_ count: Int, in store: OperationStore<QueryState<Int, any Error>>) async {
    for _ in 0..<count {
      self.posts.script.enqueue(.error(Refused()))
      _ = try? await store.fetch()
    }
  }

  @Test func `A breaker that is open`() async throws {
    let store = self.store
    await self.fail(2, in: store)
    self.posts.clock.advance(by: .seconds(10))
    _ = store.explain()
    await #expect(throws: CircuitOpen.self) { try await store.fetch() }
    self.posts.clock.advance(by: .seconds(1))
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has no value.
        Its last result is an error of 1 s ago: The circuit breaker "db" is open, and admits a run in 20 s; the \
        last failure was: Refused(code: 0).
        It is stale, because it has no value.
        It has no subscribers.
        Earlier runs, newest first:
          1 s ago: failed after 0 s: The circuit breaker "db" is open, and admits a run in 20 s; the last failure was: \
        Refused(code: 0), started by a call
        Circuit breaker db: open for 19 s more; 0 of 0 runs have failed
        Notices: circuit.rejected circuit.name=db circuit.retry_after=20 s 1 s ago.
        """
    )
  }

  @Test func `A closed breaker, and one of each key`() async throws {
    let store = self.store
    await self.fail(1, in: store)
    expect(
      store.explain().sections,
      equals: [.init(title: "Circuit breaker db", facts: ["closed", "1 of 1 runs have failed"])]
    )
    let breakers = CircuitBreakers(name: "hosts") { CircuitBreaker(name: $0, minimumRuns: 1) }
    let keyed = OperationStore.detached(query: self.posts.freshQuery.circuitBreaker(breakers) { _, _ in "a.example" })
    await self.fail(1, in: keyed)
    expect(
      keyed.explain().sections,
      equals: [.init(title: "Circuit breakers", facts: ["hosts: 1 of 1 open: a.example open"])]
    )
  }

  @Test func `A run that waits for the result of a probe`() async throws {
    let store = self.store
    await self.fail(2, in: store)
    self.posts.clock.advance(by: .seconds(30))
    let probe = Task.immediate { try await store.fetch() }
    let run = try await self.posts.script.next()
    let other = Task.immediate { try await store.fetch() }
    self.posts.clock.advance(by: .seconds(1))
    let explanation = store.explain()
    expect(
      explanation.runs.last?.description,
      equals: """
        A run is under way: started by a call; it has waited for 1 s for the result of a probe of the circuit breaker db.
        """
    )
    expect(explanation.sections.first?.facts.first, equals: "half-open")
    run.succeed(1)
    try await expect(withTimeLimit("the probe") { try await probe.value }, equals: 1)
    try await self.posts.script.next().succeed(2)
    try await expect(withTimeLimit("the other run") { try await other.value }, equals: 2)
  }
}
