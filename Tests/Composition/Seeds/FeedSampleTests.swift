import Operation
import TestFixtures
import Testing

@Suite(.bounded) struct FeedSamples {
  @Test func `A feed loads page after page to its end`() async throws {
    let store = OperationStore.detached(query: Post.feedQuery)

    while store.currentValue.isEmpty || store.hasNextPage {
      try await store.fetchNextPage()
    }

    expect(store.currentValue.map(\.id), equals: [0, 1, 2])
    expect(store.currentValue.flatMap(\.value.posts).map(\.id), equals: Array(0..<20))
    #expect(try await store.fetchNextPage() == nil)
  }

  @Test func `A mutation creates a post`() async throws {
    let store = OperationClient().store(for: Post.createMutation)

    let post = try await store.mutate(with: Post.CreateMutation.Arguments(userId: 1, title: "Title", body: "Body"))

    expect(post.title, equals: "Title")
    expect(store.currentValue, equals: post)
    expect(store.history.count, equals: 1)
  }
}
