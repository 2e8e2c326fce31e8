import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationMutation

/// Closures and values of the user's are called with no lock held, so they may use the stores that call them.
@Suite(.bounded, .warningsAreIssues)
struct LockTests {
  private let feeds = Feeds()
  private let script = Script(default: .value("made"))

  /// Appends the arguments, and reads the store in the update.
  private func call(_ name: String, over feed: FeedStore) async throws {
    let mutation = Mutation(script: self.script).optimistic(on: ["feed"], of: FeedState.self) { value, arguments in
      _ = feed.state
      value?.append(arguments)
    }
    try await self.feeds.client.store(for: mutation).mutate(with: name)
  }

  /// Starts a fetch that has yielded a value.
  private func beginFetch(_ feed: FeedStore, yielding value: String) -> Task<[String], any Error> {
    self.feeds.script.enqueue(.yield(.success([value]), then: .suspend))
    return Task.immediate { try await feed.fetch() }
  }

  @Test func `An update that has become part of the value is applied again when a run is rolled back`() async throws {
    let feed = self.feeds.store()
    let fetch = self.beginFetch(feed, yielding: "yielded")
    try await self.call("a", over: feed)
    try await self.call("b", over: feed)
    expect(feed.currentValue, equals: ["yielded", "a", "b"])

    fetch.cancel()
    _ = try? await fetch.value

    expect(feed.currentValue, equals: ["old", "a", "b"])
  }

  @Test func `A replayed update is applied below those that are not yet part of the value`() async throws {
    let feed = self.feeds.store()
    let pending = self.feeds.client.store(for: Mutation(script: Script(), path: ["pending"]).appending()).begin("c")
    let fetch = self.beginFetch(feed, yielding: "yielded")
    try await self.call("a", over: feed)
    expect(feed.currentValue, equals: ["yielded", "a", "c"])
    fetch.cancel()
    _ = try? await fetch.value
    expect(feed.currentValue, equals: ["old", "a", "c"])
    pending.cancel()
    _ = try? await pending.value
    expect(feed.currentValue, equals: ["old", "a"])
  }

  @Test func `An update is applied again when one of several runs that have yielded ends`() async throws {
    let feed = self.feeds.store()
    let first = self.beginFetch(feed, yielding: "1")
    let firstRun = try await self.feeds.script.next()
    try await self.call("a", over: feed)
    let second = self.beginFetch(feed, yielding: "2")
    let secondRun = try await self.feeds.script.next()
    try await self.call("b", over: feed)
    let third = self.beginFetch(feed, yielding: "3")
    expect(feed.currentValue, equals: ["3"])

    secondRun.yield(["2 again"])
    try await self.call("c", over: feed)
    firstRun.fail(Refused())
    _ = try? await first.value
    expect(feed.currentValue, equals: ["2 again", "c"])

    second.cancel()
    _ = try? await second.value
    third.cancel()
    _ = try? await third.value
    expect(feed.currentValue, equals: ["1", "a", "b", "c"])
    #expect(feed.error is Refused)
    feed.currentValue = []
    expect(feed.currentValue, equals: [])
  }

  /// A name that reads the scopes whenever it is compared.
  private struct Name: Hashable, Sendable {
    let name: String

    static func == (lhs: Name, rhs: Name) -> Bool {
      _ = ScopeQueues.shared.scopes.count
      return lhs.name == rhs.name
    }

    func hash(into hasher: inout Hasher) {
      if Self.readsScopes { Self.$readsScopes.withValue(false) { _ = ScopeQueues.shared.scopes.count } }
      hasher.combine(self.name)
    }

    @TaskLocal static var readsScopes = true
  }

  @Test func `The name of a scope may read the scopes when it is compared`() async throws {
    let script = Script()
    let mutation = Mutation(script: script)
    let store = self.feeds.client.store(for: mutation.scope(Name(name: "x")))
    let calls = [store.begin("a"), store.begin("b")]
    for _ in calls { try await script.next().succeed("made") }
    for call in calls { _ = try await call.value }
    expect(store.history.count, equals: 2)
  }
}
