import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct EventRecorderTests {
  typealias State = QueryState<Int, any Error>

  let script = OperationScript<Int, any Error>()
  let recorder = EventRecorder<State>()

  @Test func `A recorder keeps all events in order`() async throws {
    let store = OperationStore.detached(query: script.query())
    let subscription = store.subscribe(with: recorder.handler)
    script.enqueue(.yield(.success(1), then: .yield(.failure(Refused()), then: .value(2))), .error(Refused()))
    try await store.fetch()
    expect(
      recorder.digests,
      equals: [
        .state(nil),
        .state(nil, isLoading: true),
        .started,
        .state(1, isLoading: true),
        .yielded(1),
        .state(1, isLoading: true, error: "refused"),
        .yieldedError("refused"),
        .state(2),
        .returned(2),
        .ended,
      ]
    )
    expect(recorder.stateValues, equals: [nil, nil, 1, 1, 2])
    expect(recorder.values, equals: [1, 2])
    expect(recorder.errors.count, equals: 1)
    expect(recorder.startedRunCount, equals: 1)
    expect(recorder.endedRunCount, equals: 1)

    recorder.removeAll()
    await #expect(throws: Refused.self) { try await store.fetch() }
    expect(
      recorder.digests,
      equals: [
        .state(2, isLoading: true), .started, .state(2, error: "refused"), .threw("refused"), .ended,
      ]
    )
    expect(recorder.results.count, equals: 1)
    subscription.cancel()
  }

  @Test func `A recorder serves as a query handler`() async throws {
    let store = OperationStore.detached(query: script.query())
    script.enqueue(.value(1))
    try await store.fetch(handler: recorder.queryHandler)
    expect(recorder.digests, equals: [.state(nil, isLoading: true), .started, .state(1), .returned(1), .ended])
  }

  @Test func `A recorder waits for events`() async throws {
    let store = OperationStore.detached(query: script.query().handleEvents(with: recorder.handler))
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    let waiting = Task { try await recorder.first { $0.result != nil } }
    run.yield(1)
    try await expect(waiting.value.digest, equals: .yielded(1))
    let loaded = Task { try await recorder.firstState { !$0.isLoading && $0.currentValue == 2 } }
    run.succeed(2)
    try await expect(loaded.value.currentValue, equals: 2)
    try await expect(recorder.events(count: 7).count, equals: 7)
    try await expect(fetch.value, equals: 2)
    // What was recorded before counts as well.
    try await expect(recorder.first { $0.state?.currentValue == 1 }.digest, equals: .state(1, isLoading: true))
  }

  @Test func `Removing the recorded events does not end a wait`() async throws {
    let store = OperationStore.detached(query: script.query())
    let subscription = store.subscribe(with: recorder.handler)
    store.currentValue = 1
    let waiting = Task.immediate { try await recorder.firstState { $0.currentValue == 3 } }
    recorder.removeAll()
    store.currentValue = 2
    store.currentValue = 3
    try await expect(waiting.value.valueUpdateCount, equals: 3)
    expect(recorder.digests, equals: [.state(2), .state(3)])
    subscription.cancel()
  }

  @Test func `A recorder is released with its last reference`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    weak var reference: EventRecorder<State>?
    do {
      let recorder = EventRecorder<State>()
      reference = recorder
      let store = OperationStore.detached(query: script.query().handleEvents(with: recorder.handler))
      try await store.fetch()
      expect(recorder.values, equals: [1])
    }
    #expect(reference == nil)
  }

  @Test func `A wait that times out names the recorded events`() async throws {
    let store = OperationStore.detached(query: script.query(), initialValue: 7)
    let subscription = store.subscribe(with: recorder.handler)
    let recorded = "recorded so far: [.state(Optional(7))]."
    var issues = await recordedIssues {
      await #expect(throws: WaitTimedOut.self) { try await recorder.events(count: 2, within: .milliseconds(1)) }
    }
    expect(issues, equals: ["Waited 0.001 seconds for at least 2 events; \(recorded)"])
    issues = await recordedIssues {
      await #expect(throws: WaitTimedOut.self) { try await recorder.first(within: .milliseconds(1)) { _ in false } }
    }
    expect(issues, equals: ["Waited 0.001 seconds for an event that satisfies a condition; \(recorded)"])
    subscription.cancel()
  }
}
