import Operation
import OperationTesting
import TestFixtures
import Testing

/// The controller of the guide about polling.
@Suite(.bounded)
struct PollingTests {
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
    expect(store.currentValue?.isDone, equals: true)
    // The controller wakes once more, and runs nothing.
    try await clock.sleepers(count: 1)
    clock.advance(by: .seconds(2))
    try await clock.noSleepers()
    expect(script.runCount, equals: 2)
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
