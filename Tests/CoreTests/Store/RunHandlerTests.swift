import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `fetch(handler:)` hands its handler the events of that run alone.
@Suite(.bounded, .warningsAreIssues)
struct RunHandlerTests {
  @Test
  func `The handler receives the events of its run alone`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query())
    let recorder = IntRecorder()
    let fetch = Task { try await store.fetch(handler: recorder.queryHandler) }
    let run = try await script.next()
    store.currentValue = 50
    store.setResult(to: .failure(Refused()))
    run.yield(1)
    run.succeed(2)
    try await expect(fetch.finished(), equals: 2)
    store.currentValue = 60
    expect(
      recorder.digests,
      equals: [
        .state(nil, isLoading: true), .started, .state(1, isLoading: true), .yielded(1), .state(2), .returned(2),
        .ended,
      ]
    )
    expect(store.subscriberCount, equals: 0)
  }

  @Test
  func `Handlers of concurrent runs do not receive each other's events`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query())
    let recorders = (0..<3).map { _ in IntRecorder() }
    var fetches: [Task<Int, any Error>] = []
    var runs: [ScriptedRun<Int, any Error>] = []
    for recorder in recorders {
      fetches.append(Task { try await store.run(handler: recorder.handler) })
      runs.append(try await script.next())
    }
    runs[1].yield(11)
    runs[2].yield(12)
    runs[0].yield(10)
    runs[2].succeed(22)
    _ = try await fetches[2].finished()
    runs[0].fail(Refused())
    await #expect(throws: Refused()) { try await fetches[0].finished() }
    runs[1].succeed(21)
    _ = try await fetches[1].finished()
    expect(recorders[0].digests.filter { $0.isResult }, equals: [.yielded(10), .threw("Refused(code: 0)")])
    expect(recorders[1].digests.filter { $0.isResult }, equals: [.yielded(11), .returned(21)])
    expect(recorders[2].digests.filter { $0.isResult }, equals: [.yielded(12), .returned(22)])
    for recorder in recorders {
      expect(recorder.startedRunCount, equals: 1)
      expect(recorder.endedRunCount, equals: 1)
      expect(recorder.states.count, equals: 3)
    }
  }

  @Test
  func `The handler receives its run's events in the order of the subscribers`() async throws {
    let log = Log<String>()
    let store = IntStore.detached(query: IntScript(default: .value(1)).query())
    let before = store.subscribe(with: QueryEventHandler(onResultReceived: { _, _ in log.append("before") }))
    defer { before.cancel() }
    try await store.fetch(handler: QueryEventHandler(onResultReceived: { _, _ in log.append("run") }))
    expect(log.all, equals: ["before", "run"])
  }

  @Test
  func `The handler of a run that is cancelled receives its end`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query(), initialValue: 3)
    let recorder = IntRecorder()
    let fetch = Task { try await store.fetch(handler: recorder.queryHandler) }
    try await script.next().yield(4)
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(
      recorder.digests,
      equals: [
        .state(3, isLoading: true), .started, .state(4, isLoading: true), .yielded(4), .state(3), .ended,
      ]
    )
  }

  @Test
  func `The handler of a run receives all events when the store has no other reference`() async throws {
    let recorder = IntRecorder()
    try await IntStore.detached(query: IntScript(default: .value(1)).query()).fetch(handler: recorder.queryHandler)
    expect(recorder.digests, equals: [.state(nil, isLoading: true), .started, .state(1), .returned(1), .ended])
  }

  @Test
  func `A handler that is busy at the run's end is released without a trace`() async throws {
    let store = IntStore.detached(query: IntScript(default: .value(1)).query())
    let recorder = IntRecorder()
    try await store.fetch(
      handler: QueryEventHandler(onFetchingEnded: { _ in store.currentValue = 9 }, onResultReceived: { _, _ in })
    )
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    expect(recorder.stateValues, equals: [9])
    expect(store.subscriberCount, equals: 1)
  }
}

extension EventRecorder.Digest {
  fileprivate var isResult: Bool {
    switch self {
    case .yielded, .yieldedError, .returned, .threw: true
    case .state, .started, .ended: false
    }
  }
}
