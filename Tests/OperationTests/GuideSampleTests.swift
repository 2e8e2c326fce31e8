import Operation
import OperationTesting
import TestFixtures
import Testing

/// Samples of the guides, word for word, where what they do matters more than that they compile.
@Suite(.timeLimit(.minutes(5)))
struct GuideSampleTests {
  // From "Testing".

  @Test func keepsTheOldValueWhileARefetchRuns() async throws {
    let script = OperationScript<Int, any Error>()
    let store = OperationStore.detached(query: script.query())
    store.currentValue = 1

    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    #expect(store.isLoading)
    #expect(store.currentValue == 1)

    run.succeed(2)
    #expect(try await fetch.value == 2)
  }

  @Test func triesAgainAfterASecond() async throws {
    let (clock, script) = (ManualClock(), OperationScript<Int, any Error>())
    let query = script.query().retry(limit: 1).backoff(.constant(.seconds(1))).manualTime(clock)
    let store = OperationStore.detached(query: query)
    script.enqueue(.error(Refused()), .value(2))

    let fetch = Task { try await store.fetch() }
    try await clock.sleepers(count: 1, .delay)
    clock.advance(by: .seconds(1))
    #expect(try await fetch.value == 2)
  }

  @Test func showsTheYieldFirst() async throws {
    let (script, recorder) = (OperationScript<Int, any Error>(), EventRecorder<QueryState<Int, any Error>>())
    script.enqueue(.yield(.success(1), then: .value(2)))
    let store = OperationStore.detached(query: script.query().handleEvents(with: recorder.handler))

    try await store.fetch()
    #expect(recorder.values == [1, 2])
  }

  // From "Getting started".

  @Test func fetchesAPost() async throws {
    let script = OperationScript<Int, any Error>()
    script.enqueue(.value(1))
    let store = OperationStore.detached(query: script.query())

    #expect(try await store.fetch() == 1)
    #expect(store.currentValue == 1)
  }

  // From "Polling": the controller is that of the guide.

  @Test func `A job is polled until it is done`() async throws {
    let (clock, script) = (ManualClock(), OperationScript<Job, any Error>())
    let store = OperationStore.detached(
      query: script.query().controlled(by: PollUntilDone(interval: .seconds(2))).manualTime(clock)
    )
    let recorder = EventRecorder<QueryState<Job, any Error>>()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    for (count, isDone) in [(1, false), (2, true)] {
      try await clock.sleepers(count: 1)
      clock.advance(by: .seconds(2))
      try await script.next().succeed(Job(isDone: isDone))
      try await recorder.firstState { !$0.isLoading && $0.valueUpdateCount == count }
    }
    #expect(store.currentValue?.isDone == true)
    // The controller wakes once more, and runs nothing.
    try await clock.sleepers(count: 1)
    clock.advance(by: .seconds(2))
    try await clock.noSleepers()
    #expect(script.runCount == 2)
  }
}

private struct Job: Sendable {
  var isDone: Bool
}

private struct PollUntilDone: OperationController, Sendable {
  typealias State = QueryState<Job, any Error>

  let interval: Duration

  func control(with controls: OperationControls<State>) -> OperationSubscription {
    let task = Task {
      while true {
        try await controls.context.operationDeadlines.sleep(for: self.interval)
        if controls.state.currentValue?.isDone == true { return }
        controls.rerunForSubscribers()
      }
    }
    return OperationSubscription { task.cancel() }
  }
}
