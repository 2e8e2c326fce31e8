import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Everything at once from several threads, and what must be true in the end.
@Suite(.bounded, .warningsAreIssues)
struct StressTests {
  @Test(arguments: 0..<8)
  func `Nothing is lost or left`(_ seed: UInt64) async throws {
    let recorder = IntRecorder()
    let bodies = Counter()
    let client = OperationClient()
    let query = RestlessQuery(runs: bodies)
      .handleEvents(with: recorder.handler)
      .enableAutomaticRunning(onlyWhen: .always(true))
    let store = client.store(for: query, initialValue: 0)
    await withDiscardingTaskGroup { group in
      for worker in 0..<4 {
        group.addTask {
          var generator = SeededGenerator(seed: 10 * seed + UInt64(worker))
          var subscriptions: [OperationSubscription] = []
          var fetches: [Task<Void, Never>] = []
          for number in 0..<150 {
            switch generator.next() % 9 {
            case 0: subscriptions.append(store.subscribe(with: IntRecorder().handler))
            case 1: _ = subscriptions.popLast()
            case 2: store.currentValue = number
            case 3: store.setResult(to: .failure(Refused(code: number)))
            case 4: fetches.append(Task { _ = try? await store.fetch() })
            case 5: fetches.popLast()?.cancel()
            case 6: store.withExclusiveAccess { $0.currentValue = ($0.currentValue ?? 0) + 1 }
            case 7: await client.cancel()
            default: if number.isMultiple(of: 10) { store.resetState() }
            }
          }
          subscriptions = []
          for fetch in fetches { fetch.cancel() }
          for fetch in fetches { await fetch.value }
        }
      }
    }
    await client.cancel()
    expect(store.subscriberCount, equals: 0)
    #expect(!store.isLoading)
    expect(client.isFetching(), equals: 0)
    let last = try await recorder.first { $0.state.map { StateFacts($0) } == StateFacts(store.state) }
    #expect(last.state != nil)
    expect(recorder.states.last.map { StateFacts($0) }, equals: StateFacts(store.state))
    #expect(recorder.startedRunCount <= recorder.endedRunCount)
    #expect(bodies.value >= recorder.startedRunCount)
    for (before, after) in zip(recorder.states, recorder.states.dropFirst()) {
      // A change adds one task at most. A reset removes all of them.
      #expect(after.activeTasks.count <= before.activeTasks.count + 1)
    }
  }
}

/// Yields, and then returns, throws, or waits until it is cancelled.
private struct RestlessQuery: QueryRequest {
  let runs: Counter

  var path: OperationPath { ["restless"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    let number = self.runs.increment()
    continuation.yield(-number)
    switch number % 4 {
    case 0: return number
    case 1: throw Refused(code: -number)
    case 2:
      try await Gate().wait()
      return number
    default:
      await Task { continuation.yield(-number) }.value
      return number
    }
  }
}
