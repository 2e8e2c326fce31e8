import OperationCore
import OperationMutation
import OperationTags
import OperationTesting
import TestFixtures
import Testing

/// Mutations that invalidate what shows tags.
@Suite(.bounded, .warningsAreIssues) struct MutationTagTests {
  private let client = OperationClient()
  private let script = OperationScript<Post, any Error>()

  private func mutate<Mutation: MutationRequest<Int, Post, any Error>>(
    _ mutation: Mutation,
    _ outcome: OperationScript<Post, any Error>.Outcome
  ) async {
    self.script.enqueue(outcome)
    _ = try? await self.client.store(for: mutation).mutate(with: 5)
  }

  @Test func `A call that succeeds invalidates by its arguments and its result`() async {
    let stores = [1, 5, 6].map { self.client.posts("posts \($0)", initialValue: posts($0)) }
    let mutation = EditPost(script: self.script).invalidates(tagged: { id, post in [.post(id), .post(post.id)] })
    await self.mutate(mutation, .value(Post(id: 6)))
    expect(stores.map { $0.isStale }, equals: [false, true, true])
  }

  @Test func `A call that fails invalidates nothing`() async {
    let store = self.client.posts(initialValue: posts(5))
    await self.mutate(EditPost(script: self.script).invalidates(tagged: .post(5)), .error(Refused()))
    #expect(!store.isStale)
  }

  @Test func `Tags that do not depend on the call can be listed`() async {
    let stores = [1, 2, 3].map { self.client.posts("posts \($0)", initialValue: posts($0)) }
    await self.mutate(EditPost(script: self.script).invalidates(tagged: .post(1), .post(2)), .value(Post(id: 0)))
    expect(stores.map { $0.isStale }, equals: [true, true, false])
  }

  @Test func `Tags and paths add up, and a store that both name runs once`() async throws {
    let feed = PostsScript()
    let query = feed.query(path: ["feed"]).taggedByID("post").stale(after: .seconds(1_000_000), whenNoValue: false)
    let store = self.client.store(for: query, initialValue: posts(1))
    let other = self.client.posts("other", initialValue: posts(1))
    let subscription = store.subscribe(with: QueryEventHandler())
    let mutation = EditPost(script: self.script)
      .invalidates(tagged: .post(1))
      .invalidates(matching: ["feed"])
      .invalidates(tagged: { _, _ in [.post(1)] })
    await self.mutate(mutation, .value(Post(id: 1)))
    try await feed.next().succeed(posts(1))
    await store.settled()
    expect(feed.runCount, equals: 1)
    #expect(other.isStale)
    subscription.cancel()
  }

  @Test(arguments: [true, false])
  func `The refetched value replaces an optimistic update in the invalidated stores`(isOutside: Bool) async throws {
    let feed = PostsScript()
    let query = feed.query(path: ["feed"]).taggedByID("post").stale(after: .seconds(1_000_000), whenNoValue: false)
    let store = self.client.store(for: query, initialValue: posts(1))
    let recorder = EventRecorder<PostsState>()
    let subscription = store.subscribe(with: recorder.handler)
    let apply: @Sendable (inout [Post]?, Int) -> Void = { feed, id in feed?.append(Post(id: id)) }
    let edit = EditPost(script: self.script)
    // The update itself brings the tag of the new post.
    let call: Task<Post, any Error>
    if isOutside {
      let mutation = edit.optimistic(on: ["feed"], of: PostsState.self, apply: apply)
        .invalidates(tagged: { id, _ in [.post(id)] })
      let mutationStore = self.client.store(for: mutation)
      call = Task.immediate { try await mutationStore.mutate(with: 2) }
    } else {
      let mutation = edit.invalidates(tagged: { id, _ in [.post(id)] })
        .optimistic(on: ["feed"], of: PostsState.self, apply: apply)
      let mutationStore = self.client.store(for: mutation)
      call = Task.immediate { try await mutationStore.mutate(with: 2) }
    }
    try await self.script.next().succeed(Post(id: 2))
    _ = try await call.value
    let refetch = try await feed.next()
    expect(store.currentValue, equals: posts(1, 2))
    refetch.succeed([Post(id: 1), Post(id: 2, title: "from the server")])
    try await feed.noActiveRuns()
    await store.settled()
    expect(store.currentValue, equals: [Post(id: 1), Post(id: 2, title: "from the server")])
    #expect(recorder.stateValues.dropFirst().dropLast().allSatisfy { $0 == posts(1, 2) })
    // The update is not applied to a new value.
    store.currentValue = posts(9)
    expect(store.currentValue, equals: posts(9))
    subscription.cancel()
  }

  @Test func `An update in a store without the tags becomes part of its value`() async throws {
    let store = self.client.posts("feed", initialValue: posts(1))
    let mutation = EditPost(script: self.script)
      .optimistic(on: ["feed"], of: PostsState.self) { feed, id in feed?.append(Post(id: id)) }
      .invalidates(tagged: .post(99))
    await self.mutate(mutation, .value(Post(id: 5)))
    expect(store.currentValue, equals: posts(1, 5))
    #expect(!store.isStale)
    store.currentValue = posts(2)
    expect(store.currentValue, equals: posts(2))
  }

  @Test func `Only the last of several attempts counts, once`() async {
    let store = self.client.posts("feed", initialValue: posts(6))
    let computed = Log<Int>()
    let mutation = EditPost(script: self.script)
      .invalidates(tagged: { _, post in
        computed.append(post.id)
        return [.post(post.id)]
      })
      .tryingAgain()
    self.script.enqueue(.error(Refused()))
    await self.mutate(mutation, .value(Post(id: 6)))
    expect(computed.all, equals: [6])
    #expect(store.isStale)
  }

  @Test func `A mutation without a client is reported`() async {
    self.script.enqueue(.value(Post(id: 1)))
    let store = OperationStore.detached(mutation: EditPost(script: self.script).invalidates(tagged: .post(1)))
    await expectWarning(.noClient) { _ = try? await store.mutate(with: 1) }
  }
}
