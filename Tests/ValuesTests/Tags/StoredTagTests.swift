import OperationCore
import OperationMutation
import OperationPersistence
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// Invalidations by tags of values that lie in a storage or were handed over, and have no store.
@Suite(.bounded, .warningsAreIssues) struct StoredTagTests {
  private func client(_ storage: InMemoryStorage) -> OperationClient {
    let client = OperationClient()
    client.defaultContext.operationStorage = storage
    return client
  }

  private func feed(in client: OperationClient, _ name: String = "feed") -> PostsStore {
    client.store(
      for: PostsScript().query(path: [name]).taggedByID("post").tagged(OperationTag("feeds"))
        .stale(after: .seconds(1_000_000)).persisted(as: "feed").hydratable(as: "feed").disableAutomaticRunning()
    )
  }

  /// A storage as the next start of the program finds it.
  private func copy(_ storage: InMemoryStorage) async throws -> InMemoryStorage {
    let copy = InMemoryStorage()
    try await copy.apply(storage.entries(withPrefix: "").map { .put(key: $0.key, value: $0.value) })
    return copy
  }

  @Test(arguments: [OperationTag.post(5), OperationTag("feeds")])
  func `A mutation invalidates a dropped value, here and in the next start`(tag: OperationTag) async throws {
    let storage = InMemoryStorage()
    let client = self.client(storage)
    self.feed(in: client).currentValue = posts(4, 5)
    self.feed(in: client, "other").currentValue = posts(6)
    await client.flush()
    client.clearStores()
    let edit = MutationOperation<Int, Int, any Error>("edit") { (id: Int, _) in id }
    try await client.store(for: edit.invalidates(tagged: tag)).mutate(with: 5)
    #expect(self.feed(in: client).isInvalidated)
    expect(self.feed(in: client, "other").isInvalidated, equals: (tag == OperationTag("feeds")))
    client.clearStores()
    await client.flush()
    let next = self.client(try await self.copy(storage))
    expect(self.feed(in: next).currentValue, equals: posts(4, 5))
    #expect(self.feed(in: next).isInvalidated)
    self.feed(in: next).currentValue = posts(5, 7)
    await next.flush()
  }

  @Test func `The next start invalidates before it makes the store`() async throws {
    let storage = InMemoryStorage()
    let client = self.client(storage)
    self.feed(in: client).currentValue = posts(4, 5)
    await client.flush()
    let next = self.client(try await self.copy(storage))
    next.invalidate(tagged: .post(5))
    #expect(self.feed(in: next).isInvalidated)
    let fresh = self.client(try await self.copy(storage))
    fresh.invalidate(tagged: .post(6))
    #expect(!self.feed(in: fresh).isStale)
  }

  @Test func `A tag without a text in keys counts as all tags of its name`() async throws {
    struct Unkeyed: Hashable, Sendable { let id: Int }
    let storage = InMemoryStorage()
    let client = self.client(storage)
    self.feed(in: client).currentValue = posts(4)
    await client.flush()
    client.clearStores()
    client.invalidate(tagged: .entity("user", Unkeyed(id: 1)))
    #expect(!self.feed(in: client).isStale)
    client.invalidate(tagged: .entity("post", Unkeyed(id: 1)))
    client.clearStores()
    await client.flush()
    #expect(self.feed(in: self.client(try await self.copy(storage))).isInvalidated)
  }

  @Test func `A handed-over value has its tags before its store is made`() throws {
    let (server, reader) = (OperationClient(), OperationClient())
    for client in [server, reader] { client.defaultContext.operationStorage = InMemoryStorage() }
    self.feed(in: server).currentValue = posts(4, 5)
    reader.hydrate(server.dehydrate())
    reader.invalidate(tagged: .post(5))
    expect(self.feed(in: reader).currentValue, equals: posts(4, 5))
    #expect(self.feed(in: reader).isInvalidated)
  }

  @Test func `A value that was invalidated by its tag is requested once while its service is down`() async throws {
    let (storage, script) = (InMemoryStorage(), PostsScript(default: .error(Refused())))
    let client = self.client(storage)
    self.feed(in: client).currentValue = posts(4)
    await client.flush()
    let next = self.client(try await self.copy(storage))
    next.invalidate(tagged: .post(4))
    let store = next.store(
      for: script.query(path: ["feed"]).taggedByID("post").stale(after: .seconds(1_000_000)).persisted(as: "feed")
        .enableAutomaticRunning(onlyWhen: .always(true))
    )
    let recorder = EventRecorder<PostsState>()
    let subscription = store.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    _ = try await recorder.firstState { $0.error != nil && !$0.isLoading }
    expect(store.currentValue, equals: posts(4))
    #expect(store.isInvalidated)
    // What else would run has begun by now: a rerun is enqueued when the state changes.
    await store.settled()
    expect(script.runCount, equals: 1)
  }

  @Test func `A value with more than five hundred tags has perhaps any`() async throws {
    let storage = InMemoryStorage()
    let client = self.client(storage)
    self.feed(in: client).currentValue = (0..<600).map { Post(id: $0) }
    await client.flush()
    let next = self.client(try await self.copy(storage))
    next.invalidate(matching: ["elsewhere"])
    #expect(!self.feed(in: next).isStale)
    await next.flush()
    let lastStorage = try await self.copy(storage)
    let last = self.client(lastStorage)
    _ = self.feed(in: last, "other")
    last.invalidate(tagged: .entity("user", 1))
    await last.flush()
    #expect(self.feed(in: self.client(try await self.copy(lastStorage))).isInvalidated)
  }
}
