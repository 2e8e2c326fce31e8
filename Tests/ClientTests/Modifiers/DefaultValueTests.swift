import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// `.defaultValue(_:)`: a default in place of a missing value.
@Suite(.bounded, .warningsAreIssues)
struct DefaultValueTests {
  typealias State = DefaultOperationState<IntState>

  @Test
  func `The default shows until there is a value`() async throws {
    let script = IntScript()
    let query: IntQuery.Default = script.query().defaultValue(-1)
    let store = OperationStore<State>.detached(query: query)
    expect(store.currentValue, equals: -1)
    expect(store.initialValue, equals: -1)
    #expect(store.status.isIdle)
    expect(store.valueUpdateCount, equals: 0)
    expect(store.state.defaultValue, equals: -1)
    let fetch = Task { try await store.fetch() }
    let run = try await script.next()
    #expect(store.isLoading)
    expect(store.activeTasks.count, equals: 1)
    run.yield(1)
    expect(store.currentValue, equals: 1)
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.finished() }
    expect(store.currentValue, equals: -1)
    expect(store.valueUpdateCount, equals: 0)
    script.enqueue(.value(5))
    try await expect(store.fetch(), equals: 5)
    expect(store.currentValue, equals: 5)
    store.resetState()
    expect(store.currentValue, equals: -1)
  }

  @Test
  func `The default is made anew for each store`() {
    let made = Counter()
    let query = IntScript().query().defaultValue(made.increment())
    expect(OperationStore.detached(operation: query).currentValue, equals: 1)
    expect(OperationStore.detached(operation: query).currentValue, equals: 2)
  }

  @Test
  func `Handlers beneath see the state beneath, handlers above the default`() async throws {
    let log = Log<String>()
    let query = IntScript(default: .value(2)).query()
      .handleEvents(
        with: QueryEventHandler(
          onStateChanged: { state, _ in log.append("beneath \(state.currentValue.map { "\($0)" } ?? "none")") },
          onFetchingStarted: { _ in log.append("beneath started") }
        )
      )
      .defaultValue(-1)
      .handleEvents(with: QueryEventHandler { state, _ in log.append("above \(state.currentValue)") })
    let store = OperationStore.detached(operation: query)
    try await store.fetch()
    expect(log.all, equals: ["beneath none", "above -1", "beneath started", "beneath 2", "above 2"])
  }

  @Test
  func `Modifiers above a default value keep what it is`() async throws {
    let clock = ManualClock()
    let query = IntScript(default: .value(2)).query()
      .defaultValue(-1)
      .stale(after: .seconds(10))
      .enableAutomaticRunning(onlyWhen: .always(true))
      .manualTime(clock)
    let client = OperationClient()
    let store = client.store(for: query)
    #expect(store.isStale)
    let recorder = EventRecorder<State>()
    let subscription = store.subscribe(with: recorder.queryHandler)
    defer { subscription.cancel() }
    try await recorder.first { $0.digest == .ended }
    expect(
      recorder.digests,
      equals: [
        .state(-1), .state(-1, isLoading: true), .started, .state(2), .returned(2), .ended,
      ]
    )
    #expect(!store.isStale)
  }

  @Test
  func `A default value beneath a run handler`() async throws {
    let recorder = EventRecorder<State>()
    let store = OperationStore.detached(operation: IntScript(default: .value(2)).query().defaultValue(-1))
    try await store.fetch(handler: recorder.queryHandler)
    expect(recorder.stateValues, equals: [-1, 2])
    expect(recorder.values, equals: [2])
  }
}
