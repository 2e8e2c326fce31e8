import Operation
import OperationTesting
import TestFixtures
import Testing

/// Modifiers inside a default value work through it.
@Suite(.bounded) struct DefaultValueCompositionTests {
  @Test func `A rerun inside a default value is performed`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let observer = MockNetworkObserver(initialStatus: .disconnected)
    let query = script.query().rerunOnChange(of: .connected(to: observer)).defaultValue(0)
    let store = OperationStore.detached(query: query)
    let recorder = EventRecorder<DefaultOperationState<QueryState<Int, any Error>>>()
    let subscription = store.subscribe(with: recorder.queryHandler)
    expect(store.currentValue, equals: 0)

    observer.send(status: .connected)
    try await recorder.first { $0.state?.currentValue == 1 }

    expect(script.runCount, equals: 1)
    subscription.cancel()
  }

  @Test func `Polling inside a default value is performed`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let clock = ManualClock()
    let store = OperationStore.detached(
      query: script.query().rerun(every: .seconds(5)).defaultValue(0).manualTime(clock)
    )
    let recorder = EventRecorder<DefaultOperationState<QueryState<Int, any Error>>>()
    let subscription = store.subscribe(with: recorder.queryHandler)

    clock.advance(by: .seconds(5))
    try await recorder.first { $0.state?.valueUpdateCount == 1 }
    clock.advance(by: .seconds(5))
    try await recorder.first { $0.state?.valueUpdateCount == 2 }

    subscription.cancel()
    expect(clock.sleeperCount(), equals: 0)
  }

  @Test func `Retries and sharing apply inside a default value`() async throws {
    let script = OperationScript<Int, any Error>()
    script.enqueue(.error(Refused()), .value(9))
    let client = OperationClient(storeCreator: .default(retryLimit: 1, delayer: .noDelay))
    let store = client.store(for: script.query().defaultValue(-1))

    expect(store.currentValue, equals: -1)
    try await expect(store.fetch(), equals: 9)
    expect(store.currentValue, equals: 9)
    #expect(client.store(for: script.query().defaultValue(-1)) === store)
  }
}
