import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Invalidations concern the values of levels, also before their stores exist.
@Suite(.bounded, .warningsAreIssues) struct LevelInvalidationTests {
  private static let variants: [Shelf.Variant] = [.sound, .ignoresInvalidations]

  private func expectShownAndStale(_ post: KeptPost, _ text: String = "kept") async throws {
    let store = post.store()
    expect(store.currentValue, equals: text)
    #expect(store.isStale)
    #expect(store.isInvalidated)
    let value = Task.immediate { try await post.client.ensureValue(for: post.query()) }
    try await post.script.next().succeed("new")
    try await expect(value.finished(), equals: "new")
    #expect(!store.isStale)
    post.client.clearStores()
    #expect(!post.store().isStale)
    expect(post.store().currentValue, equals: "new")
  }

  @Test(arguments: variants, [true, false])
  func `An invalidation of a path, before the store exists, makes the kept value stale`(
    variant: Shelf.Variant,
    isAdded: Bool
  ) async throws {
    let post = KeptPost(Shelf(variant))
    if isAdded { post.client.add(post.shelf) }
    post.fill("kept")
    post.client.invalidate(matching: ["posts"])
    try await self.expectShownAndStale(post)
  }

  @Test(arguments: variants, [true, false])
  func `An invalidation of a tag, before the store exists, makes the kept value stale`(
    variant: Shelf.Variant,
    isAdded: Bool
  ) async throws {
    let post = KeptPost(Shelf(variant))
    if isAdded { post.client.add(post.shelf) }
    post.fill("kept", tags: [["author", 7]])
    post.client.noteInvalidation(of: [.tag(["author", 7])])
    try await self.expectShownAndStale(post)
  }

  @Test(arguments: variants)
  func `An invalidation of others leaves the kept value fresh`(variant: Shelf.Variant) {
    let post = KeptPost(Shelf(variant))
    post.fill("kept", tags: [["author", 7]])
    post.client.invalidate(matching: ["posts", 2])
    post.client.noteInvalidation(of: [.tag(["author", 8])])
    expect(post.store().currentValue, equals: "kept")
    #expect(!post.store().isStale)
  }

  @Test(arguments: variants)
  func `A value that a removed store has left is stale after an invalidation`(variant: Shelf.Variant) async throws {
    let post = KeptPost(Shelf(variant))
    try await post.fetch("kept", in: post.store())
    post.client.clearStores()
    #expect(!post.store().isStale)
    post.client.clearStores()
    post.client.invalidate(matching: ["posts"])
    try await self.expectShownAndStale(post)
  }

  @Test(arguments: variants)
  func `A store that is invalidated leaves a stale value`(variant: Shelf.Variant) async throws {
    let post = KeptPost(Shelf(variant))
    try await post.fetch("kept", in: post.store())
    post.client.invalidate(matching: ["posts"])
    post.client.clearStores()
    try await self.expectShownAndStale(post)
  }

  @Test(arguments: variants)
  func `An invalidation while the level is asked makes the kept value stale`(variant: Shelf.Variant) async throws {
    let gate = Gate()
    let post = KeptPost(Shelf(variant, gate: gate))
    post.fill("kept")
    let store = post.store()
    try await gate.arrivals(count: 1)
    post.client.invalidate(matching: ["posts"])
    gate.open()
    await store.restored()
    expect(store.currentValue, equals: "kept")
    #expect(store.isStale)
  }

  @Test func `A level that is added gets the invalidations of before and of later`() async throws {
    let post = KeptPost()
    post.client.invalidate(matching: ["posts"])
    post.client.add(post.shelf)
    post.client.add(post.shelf)
    post.fill("kept", tags: [["author", 7]])
    let key = LevelKey(path: KeptPost.path, name: "post")
    var demand = ValueDemand(at: post.clock.now())
    guard case .value(let value) = post.shelf.valueAtHand(for: key, demand) else { throw Refused() }
    #expect(value.isInvalidated)
    demand.mustBeFresh = true
    guard case .none = post.shelf.valueAtHand(for: key, demand) else { throw Refused() }
  }
}
