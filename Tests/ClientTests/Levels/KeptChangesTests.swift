import CoreFixtures
import OperationCore
import OperationFallback
import OperationTesting
import TestFixtures
import Testing

/// What a store puts into its level.
@Suite(.bounded, .warningsAreIssues) struct KeptChangesTests {
  private let post = KeptPost()
  private var log: [String] { self.post.shelf.log.all }

  @Test func `The value of a run and one that was set are put`() async throws {
    let store = self.post.store()
    #expect(self.log.isEmpty)
    try await self.post.fetch("fetched", in: store)
    expect(self.log, equals: ["put fetched"])
    store.currentValue = "set"
    expect(self.log, equals: ["put fetched", "put set"])
    expect(self.post.shelf.text(), equals: "set")
  }

  @Test func `A value that the level has is not put again`() async throws {
    self.post.fill("kept")
    let store = self.post.store()
    let subscription = store.subscribe(with: QueryEventHandler())
    subscription.cancel()
    self.post.client.clearStores()
    #expect(self.log.isEmpty)
  }

  @Test func `A failure leaves the kept value`() async throws {
    self.post.fill("kept", secondsAgo: 60)
    let store = self.post.store()
    let fetch = Task.immediate { try await store.fetch() }
    try await self.post.script.next().fail(Refused())
    await #expect(throws: Refused.self) { try await fetch.value }
    expect(store.currentValue, equals: "kept")
    expect(self.post.shelf.text(), equals: "kept")
  }

  @Test func `An optimistic update is not put, and a value that is set below it is`() async throws {
    let store = self.post.store()
    store.currentValue = "set"
    let layer = StateLayerIdentifier()
    store.addLayer(layer) { $0 = ($0 ?? "") + " and liked" }
    expect(store.currentValue, equals: "set and liked")
    expect(self.post.shelf.text(), equals: "set")
    try await self.post.fetch("fetched", in: store)
    expect(store.currentValue, equals: "fetched and liked")
    expect(self.post.shelf.text(), equals: "fetched")
    store.removeLayer(layer)
    expect(self.log, equals: ["put set", "put fetched"])
  }

  @Test func `A fallback is shown and not put, and the confirmed value stays`() async throws {
    let query = self.post.script.query(path: KeptPost.path).fallback("fallback").kept(in: self.post.shelf, as: "post") {
      Array($0.utf8)
    } decode: {
      String(decoding: $0, as: UTF8.self)
    }
    let store = self.post.client.store(for: query)
    try await self.post.fetch("confirmed", in: store)
    let fetch = Task.immediate { try await store.fetch() }
    try await self.post.script.next().fail(Refused())
    try await expect(fetch.value, equals: "fallback")
    expect(store.currentValue, equals: "fallback")
    expect(self.post.shelf.text(), equals: "confirmed")
    expect(self.log, equals: ["put confirmed"])
    self.post.client.clearStores()
    expect(self.post.client.store(for: query).currentValue, equals: "confirmed")
  }

  @Test func `A store that was removed puts nothing`() async throws {
    let store = self.post.store()
    store.currentValue = "set"
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.post.script.next()
    self.post.client.clearStore(with: KeptPost.path)
    store.currentValue = "set later"
    run.succeed("fetched later")
    _ = try await fetch.value
    expect(self.post.shelf.text(), equals: "set")
    expect(self.log, equals: ["put set"])
    expect(self.post.store().currentValue, equals: "set")
  }

  @Test func `A value set while the level is asked is put, and stays`() async throws {
    let gate = Gate()
    let post = KeptPost(Shelf(gate: gate))
    post.fill("kept", secondsAgo: 5)
    let store = post.store()
    store.currentValue = "set"
    expect(post.shelf.text(), equals: "kept")
    gate.open()
    await post.shelf.logs("put set")
    expect(store.currentValue, equals: "set")
    expect(post.shelf.text(), equals: "set")
  }

  @Test func `A value set while the level is asked is put when the store is removed before the answer`() async throws {
    let gate = Gate()
    let post = KeptPost(Shelf(gate: gate))
    let store = post.store()
    store.currentValue = "set"
    post.client.clearStores()
    expect(post.shelf.log.all, equals: ["put set"])
    gate.open()
  }

  @Test func `A value that cannot be encoded is put, and it is the level that finds out`() async throws {
    let query = self.post.script.query(path: KeptPost.path).kept(in: self.post.shelf, as: "post") { (_: String) in
      throw Refused()
    } decode: {
      String(decoding: $0, as: UTF8.self)
    }
    let store = self.post.client.store(for: query)
    store.currentValue = "set"
    expect(self.log, equals: ["put what cannot be encoded"])
    expect(store.currentValue, equals: "set")
  }
}
