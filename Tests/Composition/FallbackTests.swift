import Operation
import OperationChaos
import OperationFallback
import OperationTesting
import OperationTimeout
import Synchronization
import TestFixtures
import Testing

/// Fallbacks and chaos with the modifiers around and inside of them.
@Suite(.bounded, .warningsAreIssues) struct FallbackCompositionTests {
  private let clock = ManualClock()

  @Test func `A fallback replaces the error that a retry has left`() async throws {
    let script = OperationScript<Int, any Error>(default: .error(Refused()))
    let store = OperationStore.detached(query: script.query().retry(limit: 2).delayer(.noDelay).fallback(0))
    try await expect(store.fetch(), equals: 0)
    #expect(script.runCount == 3 && store.error == nil)
  }

  @Test func `A timeout falls back`() async throws {
    let script = OperationScript<Int, any Error>()
    let marks = Mutex<[Bool]>([])
    let store = OperationStore.detached(
      query: script.query().timeout(.seconds(2)).fallback(7).deduplicated().manualTime(self.clock)
        .handleEvents(
          with: QueryEventHandler(onResultReceived: { _, context in
            marks.withLock { $0.append(context.isFallback) }
          })
        )
    )
    let task = Task.immediate { try await store.fetch() }
    _ = try await script.next()
    try await self.clock.sleepers(count: 1)
    self.clock.advance(by: .seconds(2))
    try await expect(task.value, equals: 7)
    expect(marks.withLock { $0 }, equals: [true])
    try await script.noActiveRuns()
  }

  @Test func `Retries and fallbacks handle chaos, and a seed repeats what they do`() async throws {
    var outcomes: [[Int]] = []
    for _ in 1...2 {
      let script = OperationScript<Int, any Error>(default: .value(1))
      let query = script.query().chaos(Chaos(failureRatio: 0.7, seed: 11)).retry(limit: 1).delayer(.noDelay).fallback(0)
      var context = OperationContext()
      context.operationChaos = true
      let store = OperationStore.detached(query: query, initialContext: context)
      var values: [Int] = []
      for _ in 1...50 { values.append(try await store.fetch()) }
      outcomes.append(values)
    }
    expect(outcomes[0], equals: outcomes[1])
    expect(Set(outcomes[0]), equals: [0, 1])
  }

  @Test func `All of them together keep the rules of modifiers`() async throws {
    try await checkModifier(except: [.error]) {
      $0.chaos(Chaos(seed: 1)).timeout(.seconds(60)).retry(limit: 2).delayer(.noDelay).deadline(after: .seconds(60))
        .fallback(0)
    }
  }
}
