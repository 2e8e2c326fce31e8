import OperationCore
import OperationEvents
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

/// What explanations and events tell of mutations.
@Suite(.bounded, .warningsAreIssues)
struct MutationExplanationTests {
  private let posts = PostFixture()

  @Test func `The optimistic update of a mutation, and its invalidation`() async throws {
    let client = self.posts.client
    let post = client.store(for: self.posts.freshQuery)
    post.currentValue = 1
    let events = client.events
    let end = Gate()
    let add = MutationOperation<Int, Int, any Error>("add", operationName: "AddPost") { number, _ in
      try await end.wait()
      return number
    }
    let store = client.store(
      for: add.optimistic(on: ["posts"], of: QueryState<Int, any Error>.self) { value, number in value = number }
        .invalidates(matching: ["posts"])
    )
    let call = Task.immediate { try await store.mutate(with: 5) }
    self.posts.clock.advance(by: .seconds(10))
    expect(
      post.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 10 s ago.
        An optimistic update of AddPost is shown on top of it.
        It is fresh for 50 s more.
        It has no subscribers.
        Next: it becomes stale in 50 s; it is evicted in 4 min 50 s.
        """
    )
    end.open()
    _ = try await withTimeLimit("the call") { try await call.value }
    self.posts.clock.advance(by: .seconds(1))
    expect(
      post.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 11 s ago.
        It has been stale for 1 s, because of an invalidation of ["posts"] by AddPost.
        It has no subscribers.
        Next: it is evicted in 4 min 49 s.
        """
    )
    let texts = try await withTimeLimit("events") {
      var (texts, iterator) = ([String](), events.makeAsyncIterator())
      while texts.count < 6, let event = await iterator.next() { texts.append("\(event)") }
      return texts
    }
    let name = "GetPost at [\"posts\", 1]: "
    #expect(texts.contains(name + "an optimistic update was added by AddPost"))
    #expect(texts.contains(name + "invalidated: an invalidation of [\"posts\"] by AddPost"))
    #expect(texts.contains(name + "an optimistic update became part of the value by AddPost"))
  }

  @Test func `A call that waits for its turn in a scope`() async throws {
    let (client, clock) = (self.posts.client, self.posts.clock)
    let end = Gate()
    let rename = MutationOperation<Int, Int, any Error>("rename", operationName: "Rename") { number, _ in
      try await end.wait()
      return number
    }
    let store = client.store(for: rename.scope("posts").manualTime(clock))
    let first = Task.immediate { try await store.mutate(with: 1) }
    let second = Task.immediate { try await store.mutate(with: 2) }
    clock.advance(by: .seconds(4))
    expect(
      store.explanationText,
      equals: """
        Rename at ["rename"]
        It has no value.
        It has no subscribers.
        It runs only when it is called.
        A run is under way: started by a call.
        A run is under way: started by a call; it has waited for 4 s for its turn in the scope ["posts"].
        """
    )
    end.open()
    try await expect(withTimeLimit("the calls") { try await first.value + (try await second.value) }, equals: 3)
    await store.settled()
    #expect(store.explain().runs.isEmpty)
  }
}
