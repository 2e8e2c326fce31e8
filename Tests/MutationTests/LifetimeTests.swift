import OperationCore
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct LifetimeTests {
  @Test func `A store with a history is released with its last reference`() async throws {
    let tracker = LifetimeTracker()
    do {
      let token = tracker.token()
      let mutation = ClosureMutation<Int, Int, any Error> { arguments, _ in
        token.touch()
        return arguments
      }
      let store = OperationStore.detached(mutation: mutation.maxHistory(length: 3))
      for number in 1...5 { try await store.mutate(with: number) }
      _ = try await store.retryLatest()
      expect(store.history.count, equals: 3)
    }
    try await tracker.noneAlive()
  }

  @Test func `Updates are released with the stores that show them`() async throws {
    let tracker = LifetimeTracker()
    let script = Script()
    let client = OperationClient()
    let store: MutationStore
    do {
      let token = tracker.token()
      let mutation = Mutation(script: script).optimistic(on: ["feed"], of: FeedState.self) { feed, arguments in
        token.touch()
        feed?.append(arguments)
      }
      store = client.store(for: mutation)
    }
    weak var feed: FeedStore?
    do {
      let strong = client.store(for: FeedScript().query(path: ["feed"]), initialValue: [])
      feed = strong
      let call = store.begin("a")
      let run = try await script.next()
      expect(strong.currentValue, equals: ["a"])
      client.clearStore(with: ["feed"])
      expect(strong.currentValue, equals: ["a"])
      run.fail(Refused())
      _ = try? await call.value
      // The update is also removed from a store that the client no longer has.
      expect(strong.currentValue, equals: [])
    }
    #expect(feed == nil)
    client.clearStores()
    expect(tracker.aliveCount, equals: 1)
    withExtendedLifetime(store) {}
  }

  @Test func `A store can be released during a call`() async throws {
    let script = Script()
    let client = OperationClient()
    let store = client.store(for: Mutation(script: script).appending().invalidates(matching: ["feed"]))
    weak let feed = client.store(for: FeedScript().query(path: ["feed"]), initialValue: [])
    let call = store.begin("a")
    let run = try await script.next()
    expect(feed?.currentValue, equals: ["a"])
    client.clearStore(with: ["feed"])
    #expect(feed == nil)
    run.succeed("made")
    _ = try await call.value
  }

  @Test func `A client that is released during a call retains nothing`() async throws {
    let tracker = LifetimeTracker()
    let script = Script()
    let call: Task<String, any Error>
    let feed: FeedStore
    do {
      let token = tracker.token()
      let client = OperationClient()
      feed = client.store(for: FeedScript().query(path: ["feed"]), initialValue: [])
      let mutation = Mutation(script: script).optimistic(on: ["feed"], of: FeedState.self) { feed, arguments in
        token.touch()
        feed?.append(arguments)
      }
      call = client.store(for: mutation.invalidates(matching: ["feed"]).scope("x")).begin("a")
    }
    expect(feed.currentValue, equals: ["a"])
    try await script.next().fail(Refused())
    await #expect(throws: Refused.self) { try await call.value }
    expect(feed.currentValue, equals: [])
    try await tracker.noneAlive()
  }

  @Test func `Only the last of the values that a call yields is kept`() async throws {
    let tracker = LifetimeTracker()
    let gate = Gate()
    let store = OperationStore.detached(mutation: YieldingMutation(tracker: tracker, gate: gate))
    // Another active call, whose yield is no longer the last.
    let other = Task.immediate { try await store.mutate(with: 1) }
    let call = Task.immediate { try await store.mutate(with: 1_000) }
    try await gate.arrivals(count: 2)
    expect(store.valueUpdateCount, equals: 1_001)
    // The values of the two calls, in the state and in the tasks that have yielded them.
    #expect(tracker.aliveCount <= 4)
    call.cancel()
    _ = try? await call.value
    expect(store.valueUpdateCount, equals: 1)
    gate.open()
    _ = try await other.value
  }

  @Test func `Ten thousand calls leave no update in a store`() async throws {
    let feeds = Feeds()
    let feed = feeds.store()
    let tracker = LifetimeTracker()
    let mutation = ClosureMutation<Int, Int, any Error> { arguments, _ in
      if arguments.isMultiple(of: 2) { throw Refused() }
      return arguments
    }.optimistic(on: { _ in ["feed"] }, of: FeedState.self) { feed, arguments in
      if arguments > 9_990 { feed?.append("\(arguments)") }
    }.scope("x")
    let store = feeds.client.store(for: mutation)
    for number in 1...10_000 {
      var context = OperationContext()
      context[TokenKey.self] = tracker.token()
      _ = try? await store.mutate(with: number, using: context)
    }
    expect(feed.currentValue, equals: ["old", "9991", "9993", "9995", "9997", "9999"])
    expect(store.history.count, equals: 10)
    // Only the contexts of the calls in the history are alive.
    #expect(tracker.aliveCount <= 10)
  }

  private enum TokenKey: OperationContext.Key {
    static let defaultValue: LifetimeTracker.Token? = nil
  }
}

/// Yields as many values as its arguments say, waits, and returns another.
private struct YieldingMutation: MutationRequest {
  let tracker: LifetimeTracker
  let gate: Gate

  var path: OperationPath { ["yielding"] }

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<LifetimeTracker.Token, any Error>
  ) async throws -> LifetimeTracker.Token {
    for _ in 0..<arguments { continuation.yield(self.tracker.token()) }
    try await self.gate.wait()
    return self.tracker.token()
  }
}
