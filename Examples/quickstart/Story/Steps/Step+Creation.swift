import Operation
import PostService

extension Step {
  static let creation = Step("A new post is in the feed at once, and stays when the server agrees") { stage, server in
    let client = stage.makeClient()
    let query = Post.feedQuery(pagesOf: 100)
    let creation = client.store(for: Post.createMutation)
    let narrators = (feed: Narrator(feedOn: stage.transcript), creation: Narrator(creationOn: stage.transcript))
    stage.transcript.say(.caller, "fetches the feed, then subscribes to it and to the creation of posts")
    await client.prefetch(for: query)
    let subscription = OperationSubscription.combined([
      client.store(for: query).subscribe(with: narrators.feed.handler),
      creation.subscribe(with: narrators.creation.handler),
    ])
    defer { subscription.cancel() }
    stage.clear()

    stage.transcript.say(.caller, "creates a post that the server will refuse")
    server.script.fail(next: 1, of: .add, with: .refused)
    do {
      try await creation.mutate(with: PostDraft(userId: 1, title: "An unwelcome post", body: "It was never read."))
      stage.transcript.fail("the server refuses the post")
    } catch {
      stage.transcript.say(.caller, "gets an error: \(error.inWords)")
    }

    stage.transcript.say(.caller, "creates a post that the server will accept")
    let draft = PostDraft(userId: 1, title: "A welcome post", body: "It has been read already.")
    let post = try await creation.mutate(with: draft)
    // What the mutation has invalidated is being fetched; this waits for it.
    let feed = try await client.ensureValue(for: query)
    stage.transcript.say(.caller, "has post \(post.id) in the feed")

    stage.transcript.check("the feed ends with the post as the server has it", feed.posts.last, equals: post)
    let counts = narrators.feed.states.map { $0.currentValue.posts.count - stage.postCount }
    stage.transcript.check("the draft came and went, and the other one stayed", counts, equals: [0, 1, 0, 1, 1, 1])
    narrators.feed.checkPhases(.value, .value, .value, .value, .loading, .value)
    narrators.creation.checkPhases(.idle, .loading, .error, .loading, .value)
    stage.checkRequests(of: .add, equal: 2)
    stage.checkRequests(of: .feed, equal: 1)
  }
}
