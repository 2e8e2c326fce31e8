import Operation
import PostService

extension Step {
  static let retry = Step("A server that fails twice is asked three times") { stage, server in
    stage.transcript.say(.caller, "subscribes to post 2, which the server will fail to serve twice")
    server.script.fail(next: 2, of: .post(id: 2))
    let log = AttemptLog(transcript: stage.transcript)
    let store = stage.makeClient().store(for: Post.query(for: 2).logAttempts(to: log))
    let narrator = Narrator(post: 2, transcript: stage.transcript)
    let subscription = store.subscribe(with: narrator.handler)
    defer { subscription.cancel() }

    let post = try await store.fetch()
    stage.transcript.say(.caller, "has \(post.inWords)")

    stage.transcript.check("it is post 2", post?.id == 2, found: post.inWords)
    stage.checkRequests(of: .post(id: 2), equal: 3)
    log.checkWaits(Stage.firstWait, Stage.firstWait * 2)
    narrator.checkPhases(.idle, .loading, .value)
    stage.transcript.check("no error is left, and none was shown", store.error == nil && store.errorUpdateCount == 0)
  }
}
