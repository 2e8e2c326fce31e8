import Operation
import PostService

extension Step {
  static let fetch = Step("A post is fetched through a client") { stage in
    let store = stage.makeClient().store(for: Post.query(for: 1))
    let narrator = Narrator(post: 1, transcript: stage.transcript)

    stage.transcript.say(.caller, "subscribes to post 1; it is not there yet, so it is fetched")
    let subscription = store.subscribe(with: narrator.handler)
    defer { subscription.cancel() }

    stage.transcript.say(.caller, "asks for it too, and joins that fetch")
    let post = try await store.fetch()
    stage.transcript.say(.caller, "has \(post.inWords)")

    stage.transcript.check("it is post 1", post?.id == 1, found: post.inWords)
    narrator.checkPhases(.idle, .loading, .value)
    stage.checkRequests(of: .post(id: 1), equal: 1)
  }
}
