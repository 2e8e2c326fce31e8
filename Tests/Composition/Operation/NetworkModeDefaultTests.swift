import Operation
import OperationTesting
import TestFixtures
import Testing

/// The runs of a client while the network is away.
@Suite(.bounded, .warningsAreIssues) struct NetworkModeDefaultTests {
  private let network = MockNetworkObserver(initialStatus: .disconnected)
  private let script = OperationScript<Int, any Error>()

  private func client(mutationRetryLimit: Int = 0) -> OperationClient {
    OperationClient(
      storeCreator: .default(
        retryLimit: 3,
        mutationRetryLimit: mutationRetryLimit,
        delayer: .noDelay,
        networkObserver: self.network,
        activityObserver: nil
      )
    )
  }

  @Test func `By default the first attempt runs, and a retry waits for the network`() async throws {
    let store = self.client().store(for: self.script.query())
    expect(store.context.operationNetworkMode, equals: .offlineFirst)
    let fetch = Task.immediate { try await store.fetch() }
    let first = try await self.script.next()
    #expect(!store.isPaused && store.attempt?.index == 1)
    first.fail(Refused())
    try await store.paused()
    expect(self.script.runCount, equals: 1)
    self.network.send(status: .connected)
    let second = try await self.script.next()
    expect(store.attempt?.index, equals: 2)
    second.succeed(1)
    try await expect(fetch.value, equals: 1)
  }

  @Test func `An operation's own mode replaces the default, with the network of the client`() async throws {
    let client = self.client()
    self.script.enqueue(.error(Refused()), .value(1))
    let always = client.store(for: self.script.query(path: ["always"]).networkMode(.always))
    try await expect(always.fetch(), equals: 1)
    let online = client.store(for: self.script.query(path: ["online"]).networkMode(.online))
    let fetch = Task.immediate { try await online.fetch() }
    #expect(online.isPaused)
    self.network.send(status: .connected)
    try await self.script.next().succeed(2)
    try await expect(fetch.value, equals: 2)
  }

  @Test func `Mutations that are retried wait for the network as well`() async throws {
    let script = self.script
    let mutation = MutationOperation("m") { (_: Int, context, continuation) in
      try await script.run(in: context, with: continuation)
    }
    let store = self.client(mutationRetryLimit: 1).store(for: mutation)
    script.enqueue(.error(Refused()), .value(5))
    let call = Task.immediate { try await store.mutate(with: 1) }
    try await store.paused()
    self.network.send(status: .connected)
    try await expect(call.value, equals: 5)
  }

  @Test func `Without an observer nothing waits`() async throws {
    let client = OperationClient(storeCreator: .default(delayer: .noDelay, networkObserver: nil, activityObserver: nil))
    self.script.enqueue(.error(Refused()), .value(1), .value(2))
    let store = client.store(for: self.script.query(path: ["a"]))
    try await expect(store.fetch(), equals: 1)
    try await expect(client.store(for: self.script.query(path: ["b"]).networkMode(.online)).fetch(), equals: 2)
  }
}

extension OperationStore {
  /// Waits until the state is paused.
  fileprivate func paused() async throws {
    let recorder = EventRecorder<State>()
    let subscription = self.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    try await recorder.firstState(where: { $0.isPaused })
  }
}
