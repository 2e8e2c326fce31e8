import Operation
import OperationTesting
import TestFixtures
import Testing

/// The subscription to network and activity observers that the stores of a creator share.
@Suite(.bounded, .warningsAreIssues) struct SurroundingsTests {
  private let network = MockNetworkObserver(initialStatus: .connected)
  private let activity = MockApplicationActivityObserver(isActive: true)
  private let script = OperationScript<Int, any Error>(default: .value(1))

  private func client() -> OperationClient {
    OperationClient(storeCreator: .default(networkObserver: self.network, activityObserver: self.activity))
  }

  private func expectNothingObserved() {
    expect(self.network.subscriberCount, equals: 0)
    expect(self.activity.subscriberCount, equals: 0)
  }

  @Test func `All stores share one subscription, which ends with the last of them`() {
    do {
      let client = self.client()
      self.expectNothingObserved()
      for number in 0..<100 { _ = client.store(for: NumberQuery(number)) }
      expect(self.network.subscriberCount, equals: 1)
      expect(self.activity.subscriberCount, equals: 1)
      client.clearStores()
      self.expectNothingObserved()
      let store = client.store(for: NumberQuery(1))
      expect(self.network.subscriberCount, equals: 1)
      expect(store.currentValue, equals: nil)
    }
    self.expectNothingObserved()
  }

  @Test func `Many stores can be released in any order`() {
    let client = OperationClient(
      storeCache: OperationClient.DefaultStoreCache(maximumIdleStores: 0),
      storeCreator: .default(networkObserver: self.network, activityObserver: nil)
    )
    var stores = (0..<20_000).map { client.store(for: NumberQuery($0)) }
    expect(self.network.subscriberCount, equals: 1)
    stores.shuffle()
    stores.removeLast(10_000)
    self.network.send(status: .disconnected)
    self.network.send(status: .connected)
    expect(self.network.subscriberCount, equals: 1)
    stores = []
    self.expectNothingObserved()
  }

  @Test func `A mutation observes nothing`() {
    let client = self.client()
    let store = client.store(for: NothingMutation())
    expect(store.currentValue, equals: nil)
    self.expectNothingObserved()
  }

  @Test func `Only stores with subscribers are rerun, and only when their condition becomes true`() async throws {
    let client = self.client()
    let idle = client.store(for: self.script.query())
    self.network.send(status: .disconnected)
    self.network.send(status: .connected)
    expect(self.script.runCount, equals: 0)
    let subscription = idle.subscribe(with: QueryEventHandler())
    try await self.script.runs(count: 1)
    try await self.script.noActiveRuns()
    self.network.send(status: .connected)
    self.activity.send(isActive: true)
    self.network.send(status: .requiresConnection)
    try await self.script.noActiveRuns()
    expect(self.script.runCount, equals: 1)
    self.network.send(status: .connected)
    try await self.script.runs(count: 2)
    subscription.cancel()
  }

  @Test(arguments: [Surrounding.network, .activity])
  fileprivate func `A run that fails after the change is followed by another one`(
    _ surrounding: Surrounding
  ) async throws {
    let script = OperationScript<Int, any Error>()
    let client = OperationClient(
      storeCreator: .default(retryLimit: 0, networkObserver: self.network, activityObserver: self.activity)
    )
    let store = client.store(for: script.query())
    let subscription = store.subscribe(with: QueryEventHandler())
    let run = try await script.next()
    switch surrounding {
    case .network:
      self.network.send(status: .disconnected)
      self.network.send(status: .connected)
    case .activity:
      self.activity.send(isActive: false)
      self.activity.send(isActive: true)
    }
    expect(script.runCount, equals: 1)
    run.fail(TimedOut())
    try await script.next().succeed(1)
    try await script.noActiveRuns()
    expect(script.runCount, equals: 2)
    subscription.cancel()
  }

  @Test func `A fresh value is left alone`() async throws {
    let store = self.client().store(for: self.script.query().stale(after: .seconds(1_000)))
    let subscription = store.subscribe(with: QueryEventHandler())
    try await self.script.noActiveRuns()
    self.network.send(status: .disconnected)
    self.network.send(status: .connected)
    self.activity.send(isActive: false)
    self.activity.send(isActive: true)
    try await self.script.noActiveRuns()
    expect(self.script.runCount, equals: 1)
    subscription.cancel()
  }

  @Test func `An operation sets its own conditions`() async throws {
    let client = self.client()
    let modest = OperationScript<Int, any Error>(default: .value(1))
    let offline = OperationScript<Int, any Error>(default: .value(1))
    let stores = [
      client.store(for: modest.query().satisfiedConnectionStatus(.requiresConnection)),
      client.store(for: offline.query().completelyOffline().disableApplicationActiveRerunning()),
    ]
    let subscriptions = stores.map { $0.subscribe(with: QueryEventHandler()) }
    try await modest.noActiveRuns()
    try await offline.noActiveRuns()
    self.network.send(status: .disconnected)
    self.network.send(status: .requiresConnection)
    try await modest.runs(count: 2)
    try await modest.noActiveRuns()
    self.network.send(status: .connected)
    self.activity.send(isActive: false)
    self.activity.send(isActive: true)
    try await modest.runs(count: 3)
    try await modest.noActiveRuns()
    expect(modest.runCount, equals: 3)
    expect(offline.runCount, equals: 1)
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test func `Stores that come and go on many threads leave nothing`() async throws {
    let client = self.client()
    let (network, activity) = (self.network, self.activity)
    try await withTimeLimit("the stores") {
      await withTaskGroup(of: Void.self) { group in
        for thread in 0..<4 {
          group.addTask {
            for turn in 0..<200 {
              let store = client.store(for: NumberQuery(thread).stale(after: .seconds(1_000)))
              let subscription = store.subscribe(with: QueryEventHandler())
              if turn % 5 == 0 { network.send(status: turn % 2 == 0 ? .disconnected : .connected) }
              if turn % 7 == 0 { activity.send(isActive: turn % 2 == 0) }
              subscription.cancel()
              client.clearStores(matching: ["numbers", thread])
            }
          }
        }
      }
    }
    client.clearStores()
    self.expectNothingObserved()
  }
}

/// The condition that becomes true while a run is under way.
private enum Surrounding: Sendable {
  case network
  case activity
}

private struct TimedOut: Error {}

private struct NothingMutation: MutationRequest {
  var path: OperationPath { ["nothing"] }

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    arguments
  }
}
