import Observation
import OperationTesting
import SharingOperation
import TestFixtures
import Testing

/// Wrappers and models go on with the client's next store when it has removed theirs.
@Suite(.bounded, .warningsAreIssues) struct RemovedStoreTests {
  private let script = OperationScript<Int, any Error>()

  @Test func `A wrapper shows and changes the next store, and runs it`() async throws {
    let client = makeClient()
    @SharedOperation(self.script.query(), client: client) var value
    let first = try #require($value.store)
    try await self.script.next().succeed(1)
    await $value.store?.settled()
    expect(value, equals: 1)

    client.clearStores()

    let second = try #require($value.store)
    #expect(second !== first)
    #expect(second === client.store(for: self.script.query()))
    expect(value, equals: nil)
    expect(first.subscriberCount, equals: 0)
    try await self.script.next().succeed(2)
    await $value.store?.settled()
    expect(value, equals: 2)
    expect(first.currentValue, equals: 1)
    value = 3
    expect(second.currentValue, equals: 3)
    expect(self.script.runCount, equals: 2)
  }

  @Test func `Readers are notified of the next store's state`() {
    let client = makeClient(runsAutomatically: false)
    let shared = SharedOperation(self.script.query(), client: client)
    shared.wrappedValue = 1
    let watcher = Watcher { _ = shared.wrappedValue }
    client.clearStores()
    expect(watcher.count, equals: 1)
    expect(shared.wrappedValue, equals: nil)
    client.store(for: self.script.query()).currentValue = 2
    expect(watcher.count, equals: 2)
  }

  @Test func `The value of the removed store is not kept, and the placeholder is shown again`() {
    let client = makeClient(runsAutomatically: false)
    @SharedOperation(self.script.query(), keepsPrevious: true, placeholder: 7, client: client) var value
    value = 1
    client.clearStores()
    expect(value, equals: 7)
    #expect($value.isPlaceholder)
    #expect(!$value.isPrevious)
  }

  @Test func `A wrapper that was moved, or is gone, makes no next store`() {
    let client = makeClient(runsAutomatically: false)
    let other = OperationScript<Int, any Error>()
    var shared: SharedOperation? = SharedOperation(self.script.query(), client: client)
    shared?.projectedValue = SharedOperation(other.query(), client: client)
    client.clearStores(matching: self.script.query().path)
    expect(client.stores().count, equals: 1)
    shared = nil
    client.clearStores()
    #expect(client.stores().isEmpty)
  }

  @Test func `A wrapper of a store that was removed before follows the next one`() {
    let client = makeClient(runsAutomatically: false)
    let store = client.store(for: self.script.query())
    client.clearStores()
    @SharedOperation(store: store) var value
    client.store(for: self.script.query()).currentValue = 2
    expect(value, equals: 2)
    let detached = OperationStore.detached(query: self.script.query(), initialValue: 4)
    @SharedOperation(store: detached) var other
    client.clearStores()
    expect(other, equals: 4)
  }

  @Test func `The next store has the defaults of the client`() async throws {
    let network = MockNetworkObserver(initialStatus: .connected)
    let client = OperationClient(
      storeCreator: .default(retryLimit: 0, networkObserver: network, activityObserver: nil)
    )
    @SharedOperation(self.script.query(), client: client) var value
    try await self.script.next().succeed(1)
    client.clearStores()
    try await self.script.next().succeed(2)
    await $value.store?.settled()
    network.send(status: .disconnected)
    network.send(status: .connected)
    try await self.script.next().succeed(3)
    await $value.store?.settled()
    expect(value, equals: 3)
    expect(self.script.runCount, equals: 3)
  }

  @Test func `Mutations, pages and derived values are followed, too`() async throws {
    let client = makeClient(runsAutomatically: false)
    @SharedOperation(Add(base: 10), client: client) var sum
    @SharedOperation(Feed(), client: client) var feed
    try await $sum.mutate(with: 1)
    try await $feed.fetchNextPage()
    client.clearStores()
    expect(sum, equals: nil)
    #expect($sum.history.isEmpty)
    #expect(feed.isEmpty)
    try await $sum.mutate(with: 2)
    try await $feed.fetchNextPage()
    expect(client.store(for: Add(base: 10)).currentValue, equals: 12)
    expect(client.store(for: Feed()).currentValue.count, equals: 1)
  }

  @Test @MainActor func `On the main actor the next store is followed between two jobs`() async throws {
    let client = makeClient(runsAutomatically: false)
    @SharedOperation(self.script.query(), client: client) var value
    let model = client.store(for: self.script.query()).makeObservable()
    let first = model.store
    value = 1
    expect(model.currentValue, equals: 1)
    let (shared, changed) = ($value, Gate())
    withObservationTracking {
      _ = (shared.wrappedValue, model.currentValue)
    } onChange: {
      changed.open()
    }

    SetterThread { client.clearStores() }.runAndWait()

    expect(value, equals: 1)
    expect(model.currentValue, equals: 1)
    try await changed.wait()
    await Task.detached { await MainActor.run {} }.value
    let second = client.store(for: self.script.query())
    expect(value, equals: nil)
    expect(model.currentValue, equals: nil)
    #expect($value.store === second)
    #expect(model.store === second)
    #expect(first !== second)
  }

  // MARK: - A client that forgets its user

  @Test func `A wrapper is empty while the client forgets its user, and follows the next store afterwards`()
    async throws
  {
    let client = makeClient(runsAutomatically: false)
    let other = OperationScript<Int, any Error>()
    @SharedOperation(self.script.query(), initialValue: 5, keepsPrevious: true, client: client) var value
    value = 1
    $value = SharedOperation(other.query(), initialValue: nil, client: client)
    expect(value, equals: 1)
    #expect($value.isPrevious)
    let shared = $value
    let first = try #require($value.store)
    try await client.clearEverything {
      expect(shared.wrappedValue, equals: nil)
      #expect(shared.store === first)
      #expect(client.stores().isEmpty)
    }
    expect(value, equals: nil)
    #expect($value.store === client.store(for: other.query()))
    client.store(for: other.query()).currentValue = 2
    expect(value, equals: 2)
  }

  @Test func `Mutations and pages of the former user are gone, with their initial values`() async throws {
    let client = makeClient(runsAutomatically: false)
    @SharedOperation(Add(base: 10), initialValue: 3, client: client) var sum
    @SharedOperation(Feed(), initialValue: [Page(id: 0, value: [1])], client: client) var feed
    let (mutation, pages) = (try #require($sum.store), try #require($feed.store))
    expect(sum, equals: 3)
    expect(feed.count, equals: 1)
    try await $sum.mutate(with: 1)
    try await client.clearEverything()
    expect(mutation.currentValue, equals: nil)
    #expect(mutation.history.isEmpty)
    #expect(pages.currentValue.isEmpty)
    expect(sum, equals: nil)
    #expect(feed.isEmpty)
    try await $feed.fetchNextPage()
    expect(feed.count, equals: 1)
  }

  @Test @MainActor func `On the main actor nothing of the former user is shown when it returns`() async throws {
    let client = makeClient()
    @SharedOperation(self.script.query(), client: client) var value
    let model = client.store(for: self.script.query()).makeObservable()
    try await self.script.next().succeed(1)
    await $value.store?.settled()
    let shared = $value
    try await client.clearEverything {
      expect(shared.wrappedValue, equals: nil)
      expect(model.currentValue, equals: nil)
    }
    expect(value, equals: nil)
    try await self.script.next().succeed(2)
    await $value.store?.settled()
    await Task.detached { await MainActor.run {} }.value
    expect(value, equals: 2)
    expect(model.currentValue, equals: 2)
    expect(self.script.runCount, equals: 2)
  }
}
