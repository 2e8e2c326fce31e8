import Operation
import PostService

extension Step {
  static let notFound = Step("A post that is not there is a value, not an error") { stage in
    stage.transcript.say(.caller, "subscribes to post 404")
    let store = stage.makeClient().store(for: Post.query(for: 404))
    let narrator = Narrator(post: 404, transcript: stage.transcript)
    let subscription = store.subscribe(with: narrator.handler)
    defer { subscription.cancel() }

    let post = try await store.fetch()
    stage.transcript.say(.caller, "has \(post.inWords)")

    stage.transcript.check("there is no post, and no error", post == nil && store.error == nil)
    narrator.checkPhases(.idle, .loading, .value)
    stage.checkRequests(of: .post(id: 404), equal: 1)
  }
}
