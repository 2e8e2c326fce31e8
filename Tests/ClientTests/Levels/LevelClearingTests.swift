import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// A client that forgets its user removes the values of its levels.
@Suite(.bounded, .warningsAreIssues) struct LevelClearingTests {
  @Test func `Values are removed, also those that no store has asked for`() async throws {
    let post = KeptPost()
    post.client.add(post.shelf)
    post.fill("Ann's")
    post.shelf.fill("Ann's other", at: ["posts", 2], date: post.clock.now())
    expect(post.store().currentValue, equals: "Ann's")
    try await post.client.clearEverything()
    expect(post.shelf.text(), equals: nil)
    expect(post.shelf.text(at: ["posts", 2]), equals: nil)
    expect(post.store().currentValue, equals: nil)
    expect(post.store(at: ["posts", 2]).currentValue, equals: nil)
  }

  @Test func `The first store of an operation adds its level`() async throws {
    let post = KeptPost()
    post.shelf.fill("Ann's", at: ["posts", 2], date: post.clock.now())
    expect(post.store().currentValue, equals: nil)
    try await post.client.clearEverything()
    expect(post.shelf.text(at: ["posts", 2]), equals: nil)
  }

  @Test func `A value that is looked up meanwhile does not come back`() async throws {
    let gate = Gate()
    let post = KeptPost(Shelf(gate: gate))
    post.fill("Ann's")
    let store = post.store()
    try await gate.arrivals(count: 1)
    try await post.client.clearEverything { #expect(store.isRemoved) }
    let next = post.store()
    try await gate.arrivals(count: 2)
    gate.open()
    await next.restored()
    expect(next.currentValue, equals: nil)
    expect(store.currentValue, equals: nil)
    try await post.fetch("Bob's", in: next)
    expect(store.currentValue, equals: nil)
    expect(post.shelf.text(), equals: "Bob's")
  }

  @Test func `The value of a run that ends meanwhile is not put`() async throws {
    let shelf = Shelf()
    let post = KeptPost(shelf)
    let script = OperationScript<String, any Error>(endsOnCancellation: false)
    let query = script.query(path: KeptPost.path).kept(in: shelf, as: "post") {
      Array($0.utf8)
    } decode: {
      String(decoding: $0, as: UTF8.self)
    }
    let store = post.client.store(for: query)
    store.currentValue = "Ann's"
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await script.next()
    let client = post.client
    let clearing = Task.immediate { try await client.clearEverything() }
    try await run.cancelled()
    run.yield("Ann's later")
    store.currentValue = "Ann's at last"
    run.succeed("Ann's last")
    try await clearing.finished()
    _ = await fetch.result
    expect(shelf.text(), equals: nil)
    expect(post.client.store(for: query).currentValue, equals: nil)
  }

  @Test func `A store that is made while the client forgets begins empty`() async throws {
    let post = KeptPost(Shelf(.returnsRemoved))
    post.fill("Ann's")
    _ = post.store(at: ["posts", 2])
    let client = post.client
    try await client.clearEverything {
      let store = client.store(for: post.query())
      expect(store.currentValue, equals: nil)
    }
  }

  @Test func `A level that cannot remove its values is named`() async throws {
    let post = KeptPost()
    let level = StuckLevel()
    post.client.add(level)
    let error = await #expect(throws: ClearingError.self) { try await post.client.clearEverything() }
    guard case .storage("stuck", is Refused)? = error?.remaining.first else { throw Refused() }
    expect(error?.remaining.count, equals: 1)
    expect(post.client.era, equals: ClientEra(rawValue: 1))
    expect(level.eras.all, equals: [ClientEra(rawValue: 1)])
  }
}

/// A level whose values cannot be removed.
private final class StuckLevel: ValueLevel {
  let name = "stuck"
  let reach = ValueReach.process
  let eras = Log<ClientEra>()

  func valueAtHand(for key: LevelKey, _ demand: ValueDemand) -> LevelGlance { .none }
  func put(_ value: LevelValue, for key: LevelKey, under right: LevelRight?) {}
  func invalidate(_ invalidations: [Invalidation]) {}

  nonisolated(nonsending) func remove(_ scope: LevelScope, era: ClientEra) async throws {
    self.eras.append(era)
    throw Refused()
  }
}
