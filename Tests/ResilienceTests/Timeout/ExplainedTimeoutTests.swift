import OperationCore
import OperationTesting
import OperationTimeout
import TestFixtures
import Testing

/// What an inspection tells of the time that a run has.
@Suite(.bounded, .warningsAreIssues) struct ExplainedTimeoutTests {
  private let clock = ManualClock()
  private let script = OperationScript<Int, any Error>()

  @Test func `The end of a time limit is known while a run waits for it, the earliest of two`() async throws {
    let query = self.script.query().timeout(.seconds(5)).timeout(.seconds(9)).manualTime(self.clock)
    let store = OperationStore.detached(query: query)
    self.clock.advance(by: .seconds(1))
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    expect(store.inspectWithSections().runs.map(\.timeLimitEnd), equals: [.seconds(6)])
    expect(store.inspect().runs.map(\.timeLimitEnd), equals: [nil])
    run.succeed(1)
    try await expect(fetch.value, equals: 1)
    #expect(store.inspectWithSections().runs.isEmpty)
  }

  @Test func `Without a limit, and in a store of the same operation, there is no end`() async throws {
    let query = self.script.query().timeout(.seconds(5)).manualTime(self.clock)
    let (one, other) = (OperationStore.detached(query: query), OperationStore.detached(query: query))
    let plain = OperationStore.detached(query: self.script.query())
    let fetches = [one, plain].map { store in Task.immediate { try await store.fetch() } }
    let runs = try await [self.script.next(), self.script.next()]
    expect(one.inspectWithSections().runs.map(\.timeLimitEnd), equals: [.seconds(5)])
    expect(plain.inspectWithSections().runs.map(\.timeLimitEnd), equals: [nil])
    #expect(other.inspectWithSections().runs.isEmpty)
    for run in runs { run.succeed(1) }
    for fetch in fetches { _ = try await fetch.value }
  }
}
