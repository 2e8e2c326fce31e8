import Observation
import OperationTesting
import SharingOperation
import TestFixtures
import Testing

// The models and the logic of the reference documents' views; the views themselves are in SharedOperationViews.swift.

@MainActor
@Observable
final class PostModel {
  @ObservationIgnored @SharedOperation<Post.Query.State> var post: Post??

  init(id: Int) {
    // By default, this begins to fetch the post.
    self._post = SharedOperation(Post.query(for: id))
  }

  var title: String {
    switch self.$post.status {
    case .result(.success(let post)): post?.title ?? "Post Not Found"
    case .result(.failure(let error)): "Error: \(error)"
    case .loading: "Loading"
    default: ""
    }
  }

  func reload() async throws {
    try await self.$post.fetch()
  }
}

@MainActor
final class CreatePostModel {
  let userId = 1
  var title = ""
  var postBody = ""
  @SharedOperation(Post.createMutation) var create

  var label: String { self.$create.isLoading ? "Creating..." : "Create" }

  func createPost() async throws {
    let args = Post.CreateMutation.Arguments(
      userId: self.userId,
      title: self.title,
      body: self.postBody
    )
    try await self.$create.mutate(with: args)
  }
}

@MainActor
final class PostsFeedModel {
  @SharedOperation(Post.feedQuery) var feed

  var label: String { self.$feed.isLoading ? "Loading..." : "Load More" }

  func loadMore() async throws {
    try await self.$feed.fetchNextPage()
  }
}

@MainActor
private final class ParentModel {
  @SharedOperation(Post.query(for: 10)) var post
  let child = ChildModel()
}

@MainActor
private final class ChildModel {
  @SharedOperation(Post.query(for: 10)) var post
}

@MainActor
private final class SelectingModel {
  @SharedOperation(Post.query(for: 10), select: { $0?.title }) var post
}

@MainActor
@Suite(.bounded) struct SharedOperationSamples {
  private let client = Self.makeClient()

  /// Creates a client whose server answers when the gate is open.
  private static func makeClient(_ gate: Gate = Gate(isOpen: true)) -> OperationClient {
    var context = OperationContext()
    context.dataTransport = MockDataTransport(
      posts: [
        "10": Post(id: 10, userId: 1, title: "Title", body: "Body"),
        "11": Post(id: 11, userId: 1, title: "Next", body: "Body"),
      ],
      gate: gate
    )
    return OperationClient(defaultContext: context)
  }

  @Test func `A model loads its post, and moves to another`() async throws {
    let gate = Gate()
    try await OperationClient.withCurrent(Self.makeClient(gate)) { () async throws in
      let model = PostModel(id: 10)
      expect(model.title, equals: "Loading")
      gate.open()
      try await model.reload()
      expect(model.title, equals: "Title")

      model.$post = SharedOperation(Post.query(for: 11))
      try await model.$post.load()
      expect(model.title, equals: "Next")
      model.$post = SharedOperation(Post.query(for: 12))
      try await model.reload()
      expect(model.title, equals: "Post Not Found")
    }
  }

  @Test func `A form creates a post`() async throws {
    let model = OperationClient.withCurrent(self.client) { CreatePostModel() }
    model.title = "New"
    expect(model.label, equals: "Create")
    try await model.createPost()
    expect(model.create?.title, equals: "New")
    #expect(model.$create.error == nil)
  }

  @Test func `A feed loads more`() async throws {
    let model = OperationClient.withCurrent(self.client) { PostsFeedModel() }
    try await model.$feed.load()
    try await model.loadMore()
    expect(model.feed.map(\.id), equals: [0, 1])
    expect(model.label, equals: "Load More")
  }

  @Test func `A parent and a child fetch once`() async throws {
    let model = OperationClient.withCurrent(self.client) { ParentModel() }
    #expect(model.$post.store === model.child.$post.store)
    try await model.$post.load()
    expect(model.child.post??.title, equals: "Title")
  }

  @Test func `A selection of an optional value compiles`() async throws {
    let model = OperationClient.withCurrent(self.client) { SelectingModel() }
    try await model.$post.load()
    expect(model.post??.title, equals: "Title")
  }

  @Test(.freshClient) func `A test has a client of its own`() {
    #expect(OperationClient.current !== self.client)
    #expect(OperationClient.current.stores().isEmpty)
  }
}
