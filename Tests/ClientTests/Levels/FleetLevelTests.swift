import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationFallback
import OperationTesting
import TestFixtures
import Testing

/// A level that other nodes read is asked in each run.
@Suite(.bounded, .warningsAreIssues) struct FleetLevelTests {
  private let post = KeptPost(Shelf(reach: .fleet))
  private var log: [String] { self.post.shelf.log.all }

  @Test func `A store does not begin with the value, and its run asks the level`() async throws {
    self.post.fill("kept", secondsAgo: 5)
    let store = self.post.store()
    expect(store.currentValue, equals: nil)
    try await expect(store.fetch(), equals: "kept")
    expect(store.currentValue, equals: "kept")
    expect(store.valueLastUpdatedAt, equals: self.post.clock.now().addingTimeInterval(-5))
    #expect(!store.isStale)
    expect(self.post.script.runCount, equals: 0)
    #expect(self.log.isEmpty)
    self.post.clock.advance(by: .seconds(55))
    #expect(store.isStale)
  }

  @Test func `A value that is too old for the operation is made anew under the right`() async throws {
    self.post.fill("kept", secondsAgo: 60)
    let store = self.post.store()
    try await self.post.fetch("new", in: store)
    expect(self.log, equals: ["right", "put new under a right"])
    expect(self.post.shelf.text(), equals: "new")
    // The change of the store is not put once more.
    expect(store.currentValue, equals: "new")
  }

  @Test func `A run that fails gives the right up, and the next one gets it`() async throws {
    let store = self.post.store()
    let fetch = Task.immediate { try await store.fetch() }
    try await self.post.script.next().fail(Refused())
    await #expect(throws: Refused.self) { try await fetch.value }
    expect(self.log, equals: ["right", "give up"])
    try await self.post.fetch("new", in: store)
    expect(self.log, equals: ["right", "give up", "right", "put new under a right"])
  }

  @Test func `A run that is cancelled gives the right up`() async throws {
    let store = self.post.store()
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.post.script.next()
    fetch.cancel()
    try await run.cancelled()
    await #expect(throws: CancellationError.self) { try await fetch.value }
    await self.post.shelf.logs("give up")
    expect(self.log, equals: ["right", "give up"])
  }

  @Test func `A fallback is not put, and gives the right up`() async throws {
    let query = self.post.script.query(path: KeptPost.path).fallback("fallback").kept(in: self.post.shelf, as: "post") {
      Array($0.utf8)
    } decode: {
      String(decoding: $0, as: UTF8.self)
    }
    let store = self.post.client.store(for: query)
    let fetch = Task.immediate { try await store.fetch() }
    try await self.post.script.next().fail(Refused())
    try await expect(fetch.value, equals: "fallback")
    expect(self.log, equals: ["right", "give up"])
    expect(self.post.shelf.text(), equals: nil)
  }

  @Test func `Another client waits for the run that has the right, and takes its value`() async throws {
    let other = KeptPost(self.post.shelf, clock: self.post.clock)
    let (store, otherStore) = (self.post.store(), other.store())
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.post.script.next()
    let otherFetch = Task.immediate { try await otherStore.fetch() }
    await self.post.shelf.logs("wait")
    run.succeed("new")
    try await expect(fetch.finished(), equals: "new")
    try await expect(otherFetch.finished(), equals: "new")
    expect(other.script.runCount, equals: 0)
    expect(self.log, equals: ["right", "wait", "put new under a right"])
  }

  @Test func `Another client runs when the one that has the right fails`() async throws {
    let other = KeptPost(self.post.shelf, clock: self.post.clock)
    let (store, otherStore) = (self.post.store(), other.store())
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.post.script.next()
    let otherFetch = Task.immediate { try await otherStore.fetch() }
    await self.post.shelf.logs("wait")
    run.fail(Refused())
    await #expect(throws: Refused.self) { try await fetch.value }
    try await other.script.next().succeed("other")
    try await expect(otherFetch.finished(), equals: "other")
    expect(self.log, equals: ["right", "wait", "give up", "right", "put other under a right"])
  }

  @Test(arguments: [Shelf.Variant.sound, .ignoresInvalidations])
  func `An invalidated value of the level is not taken`(variant: Shelf.Variant) async throws {
    let post = KeptPost(Shelf(variant, reach: .fleet))
    let store = post.store()
    try await post.fetch("first", in: store)
    post.client.invalidate(matching: ["posts"])
    try await post.fetch("second", in: store)
    expect(store.currentValue, equals: "second")
    #expect(!store.isStale)
    // It has seen the invalidation.
    post.client.clearStores()
    try await expect(post.store().fetch(), equals: "second")
  }

  @Test func `A value that cannot be decoded is reported, and the run goes on`() async throws {
    self.post.fill("damaged")
    let store = self.post.store()
    try await expectWarning(.levelFailed) { try await self.post.fetch("new", in: store) }
    expect(store.currentValue, equals: "new")
    expect(self.post.shelf.text(), equals: "new")
  }

  @Test func `Forgetting the user removes the values`() async throws {
    try await self.post.fetch("Ann's", in: self.post.store())
    try await self.post.client.clearEverything()
    expect(self.post.shelf.text(), equals: nil)
    let store = self.post.store()
    try await self.post.fetch("Bob's", in: store)
    expect(store.currentValue, equals: "Bob's")
  }
}
