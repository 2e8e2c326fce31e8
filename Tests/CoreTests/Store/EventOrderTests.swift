import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Subscribers receive each event once, in order, before the change returns.
@Suite(.bounded, .warningsAreIssues)
struct EventOrderTests {
  @Test
  func `A fetch is reported from its beginning to its end`() async throws {
    let script = IntScript(default: .yield(.success(1), then: .value(2)))
    let store = IntStore.detached(query: script.query())
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    try await store.fetch()
    expect(
      recorder.digests,
      equals: [
        .state(nil), .state(nil, isLoading: true), .started, .state(1, isLoading: true), .yielded(1),
        .state(2), .returned(2), .ended,
      ]
    )
  }

  @Test
  func `A failure is reported from its beginning to its end`() async throws {
    let script = IntScript(default: .yield(.failure(Refused(code: 1)), then: .error(Refused(code: 2))))
    let store = IntStore.detached(query: script.query(), initialValue: 7)
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.queryHandler)
    defer { subscription.cancel() }
    await #expect(throws: Refused(code: 2)) { try await store.fetch() }
    expect(
      recorder.digests,
      equals: [
        .state(7), .state(7, isLoading: true), .started, .state(7, isLoading: true, error: "Refused(code: 1)"),
        .yieldedError("Refused(code: 1)"), .state(7, error: "Refused(code: 2)"), .threw("Refused(code: 2)"), .ended,
      ]
    )
  }

  @Test
  func `Each event reaches all handlers before the next, in the order in which they subscribed`() async throws {
    let script = IntScript(default: .value(1))
    let log = Log<String>()
    let store = IntStore.detached(query: script.query())
    let subscriptions = (0..<3).map { number in
      store.subscribe(
        with: QueryEventHandler(
          onStateChanged: { state, _ in log.append("state \(number) \(state.isLoading)") },
          onFetchingStarted: { _ in log.append("started \(number)") },
          onFetchingEnded: { _ in log.append("ended \(number)") },
          onResultReceived: { _, _ in log.append("result \(number)") }
        )
      )
    }
    defer { OperationSubscription.combined(subscriptions).cancel() }
    try await store.fetch()
    let expected =
      ["state 0 false", "state 1 false", "state 2 false"]
      + ["state # true", "started #", "state # false", "result #", "ended #"].flatMap { line in
        (0..<3).map { line.replacing("#", with: "\($0)") }
      }
    expect(log.all, equals: expected)
  }

  @Test
  func `Handlers of the operation come first, the innermost before the others`() {
    let log = Log<String>()
    let query = IntScript().query()
      .handleEvents(with: OperationEventHandler { state, _ in log.append("inner \(state.currentValue ?? 0)") })
      .handleEvents(with: QueryEventHandler { state, _ in log.append("outer \(state.currentValue ?? 0)") })
    let store = IntStore.detached(query: query)
    let subscription = store.subscribe(
      with: QueryEventHandler { state, _ in log.append("subscriber \(state.currentValue ?? 0)") }
    )
    defer { subscription.cancel() }
    store.currentValue = 1
    expect(store.subscriberCount, equals: 1)
    expect(log.all, equals: ["subscriber 0", "inner 1", "outer 1", "subscriber 1"])
  }

  @Test
  func `A handler has been called when the setter returns`() {
    let store = IntStore.detached(query: IntScript().query())
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    expect(recorder.digests, equals: [.state(nil)])
    store.currentValue = 1
    expect(recorder.stateValues, equals: [nil, 1])
    store.setResult(to: .failure(Refused(code: 3)))
    expect(recorder.digests.last, equals: .state(1, error: "Refused(code: 3)"))
    store.resetState()
    expect(recorder.digests.last, equals: .state(nil))
    expect(recorder.events.count, equals: 4)
  }

  @Test
  func `A cancelled subscription receives no more, and cancelling twice does nothing`() {
    let store = IntStore.detached(query: IntScript().query())
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    expect(store.subscriberCount, equals: 1)
    subscription.cancel()
    subscription.cancel()
    store.currentValue = 1
    expect(recorder.stateValues, equals: [nil])
    expect(store.subscriberCount, equals: 0)
  }

  @Test
  func `A dropped subscription is a cancelled one`() {
    let store = IntStore.detached(query: IntScript().query())
    let recorder = IntRecorder()
    do {
      let subscription = store.subscribe(with: recorder.handler)
      expect(store.subscriberCount, equals: 1)
      _ = consume subscription
    }
    store.currentValue = 1
    expect(store.subscriberCount, equals: 0)
    expect(recorder.stateValues, equals: [nil])
  }

  @Test
  func `A run that is cancelled reports its end and no result`() async throws {
    let script = IntScript()
    let store = IntStore.detached(query: script.query(), initialValue: 5)
    let recorder = IntRecorder()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    run.yield(6)
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(
      recorder.digests,
      equals: [
        .state(5), .state(5, isLoading: true), .started, .state(6, isLoading: true), .yielded(6), .state(5), .ended,
      ]
    )
  }

  @Test
  func `The context of a result holds its reason`() async throws {
    let script = IntScript(default: .yield(.success(1), then: .value(2)))
    let store = IntStore.detached(query: script.query())
    let reasons = Log<String>()
    let subscription = store.subscribe(
      with: QueryEventHandler(
        onResultReceived: { _, context in
          switch context.operationResultUpdateReason {
          case .yieldedResult: reasons.append("yielded")
          case .returnedFinalResult: reasons.append("returned")
          case nil: reasons.append("none")
          }
        }
      )
    )
    defer { subscription.cancel() }
    try await store.fetch()
    expect(reasons.all, equals: ["yielded", "returned"])
    expect(store.context.operationResultUpdateReason, equals: nil)
  }

  @Test
  func `Events of several threads reach each handler one at a time and each once`() async throws {
    let store = IntStore.detached(query: IntScript().query())
    let inside = Counter()
    let overlaps = Counter()
    let last = Box(0)
    let received = Counter()
    let subscription = store.subscribe(
      with: QueryEventHandler { state, _ in
        if inside.increment() % 2 == 0 { overlaps.increment() }
        if state.valueUpdateCount > 0 {
          if state.valueUpdateCount != last.replace(with: state.valueUpdateCount) + 1 { overlaps.increment() }
          received.increment()
        }
        inside.increment()
      }
    )
    defer { subscription.cancel() }
    await withDiscardingTaskGroup { group in
      for writer in 0..<4 {
        group.addTask { for number in 0..<250 { store.currentValue = writer * 1_000 + number } }
      }
    }
    // A writer does not wait for an event that another one delivers. The event of this subscription comes after all.
    try await store.reached { $0.valueUpdateCount == 1_000 }
    expect(received.value, equals: 1_000)
    expect(overlaps.value, equals: 0)
  }
}
