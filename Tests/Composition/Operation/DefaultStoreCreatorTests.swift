import Operation
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded) struct DefaultStoreCreatorTests {
  @Test func `A query is retried with backoff`() async throws {
    let script = OperationScript<Int, any Error>()
    script.enqueue(.error(Refused()), .error(Refused()), .value(3))
    let clock = ManualClock()
    let client = OperationClient(
      storeCreator: .default(retryLimit: 2, backoff: .linear(.seconds(1)), delayer: clock)
    )

    async let value = client.store(for: script.query()).fetch()
    try await clock.sleepers(count: 1)
    clock.advance(by: .seconds(1))
    try await clock.sleepers(count: 1)
    clock.advance(by: .seconds(2))

    try await expect(value, equals: 3)
    expect(clock.delays, equals: [.seconds(1), .seconds(2)])
  }

  @Test func `An update stays through the retries of a mutation`() async throws {
    let script = OperationScript<Int, any Error>()
    script.enqueue(.error(Refused()), .error(Refused()))
    let clock = ManualClock()
    let client = OperationClient(
      storeCreator: .default(mutationRetryLimit: 2, backoff: .constant(.seconds(1)), delayer: clock)
    )
    let list = client.store(for: OperationScript<[Int], any Error>().query(path: ["list"]), initialValue: [1])
    let mutation = IntMutation(script: script)
      .optimistic(on: ["list"], of: QueryState<[Int], any Error>.self) { list, number in list?.append(number) }
      .invalidates(matching: ["list"])
    let call = Task.immediate { try await client.store(for: mutation).mutate(with: 2) }
    for _ in 1...2 {
      try await clock.sleepers(count: 1)
      expect(list.currentValue, equals: [1, 2])
      clock.advance(by: .seconds(1))
    }
    let run = try await script.next()
    expect(list.currentValue, equals: [1, 2])
    run.succeed(3)
    try await expect(call.value, equals: 3)
    expect(list.currentValue, equals: [1, 2])
    list.currentValue = []
    expect(list.currentValue, equals: [])
  }

  @Test func `Callers share a run`() async throws {
    let script = OperationScript<Int, any Error>()
    let store = OperationClient(storeCreator: .default()).store(for: script.query())

    async let first = store.fetch()
    let run = try await script.next()
    // An immediate task runs until it waits for the run under way.
    let second = Task.immediate { try await store.fetch() }
    run.succeed(4)

    try await expect(first, equals: 4)
    try await expect(second.value, equals: 4)
    expect(script.runCount, equals: 1)
  }

  @Test func `A subscriber starts a run`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let store = OperationClient(storeCreator: .default()).store(for: script.query())

    let subscription = store.subscribe(with: QueryEventHandler())

    expect(script.runCount, equals: 1)
    expect(store.currentValue, equals: 1)
    subscription.cancel()
  }

  @Test func `Automatic running follows its specification`() {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let creator = OperationClient.DefaultStoreCreator.default(automaticRunningSpecification: .always(false))
    let store = OperationClient(storeCreator: creator).store(for: script.query())

    let subscription = store.subscribe(with: QueryEventHandler())

    expect(script.runCount, equals: 0)
    subscription.cancel()
  }

  @Test func `A stale query is rerun when the network is back`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let observer = MockNetworkObserver(initialStatus: .connected)
    let store = OperationClient(storeCreator: .default(networkObserver: observer)).store(for: script.query())
    let recorder = EventRecorder<QueryState<Int, any Error>>()
    let subscription = store.subscribe(with: recorder.queryHandler)

    observer.send(status: .disconnected)
    expect(script.runCount, equals: 1)
    observer.send(status: .connected)
    try await recorder.first { $0.state?.valueUpdateCount == 2 }

    expect(script.runCount, equals: 2)
    subscription.cancel()
  }

  @Test func `A stale query is rerun when the application is active again`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let observer = MockApplicationActivityObserver(isActive: true)
    let store = OperationClient(storeCreator: .default(activityObserver: observer)).store(for: script.query())
    let recorder = EventRecorder<QueryState<Int, any Error>>()
    let subscription = store.subscribe(with: recorder.queryHandler)

    observer.send(isActive: false)
    observer.send(isActive: true)
    try await recorder.first { $0.state?.valueUpdateCount == 2 }

    expect(script.runCount, equals: 2)
    subscription.cancel()
  }

  @Test func `A stale query follows both observers together`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let network = MockNetworkObserver(initialStatus: .connected)
    let activity = MockApplicationActivityObserver(isActive: true)
    let client = OperationClient(storeCreator: .default(networkObserver: network, activityObserver: activity))
    let store = client.store(for: script.query())
    let recorder = EventRecorder<QueryState<Int, any Error>>()
    let subscription = store.subscribe(with: recorder.queryHandler)

    network.send(status: .disconnected)
    network.send(status: .connected)
    try await recorder.first { $0.state?.valueUpdateCount == 2 }
    activity.send(isActive: false)
    activity.send(isActive: true)
    try await recorder.first { $0.state?.valueUpdateCount == 3 }

    expect(network.subscriberCount, equals: 1)
    subscription.cancel()
  }

  @Test func `The operation's own modifiers win`() async throws {
    let script = OperationScript<Int, any Error>(default: .error(Refused()))
    let client = OperationClient(storeCreator: .default(retryLimit: 5, delayer: .noDelay))
    let store = client.store(for: script.query().retry(limit: 1))

    await #expect(throws: Refused.self) { try await store.fetch() }
    expect(script.runCount, equals: 2)
  }
}

/// A mutation that a script controls.
private struct IntMutation: MutationRequest {
  let script: OperationScript<Int, any Error>

  var path: OperationPath { ["mutation"] }

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.script.run(in: context, with: continuation)
  }
}
