import Operation
import PostService

extension Step {
  static let outage = Step("A dead server is an error beside the last value, until it is back") { stage, server in
    stage.transcript.say(.caller, "subscribes to post 9")
    let log = AttemptLog(transcript: stage.transcript)
    let store = stage.makeClient().store(for: Post.query(for: 9).logAttempts(to: log))
    let narrator = Narrator(post: 9, transcript: stage.transcript)
    let subscription = store.subscribe(with: narrator.handler)
    defer { subscription.cancel() }
    let post = try await store.fetch()

    stage.transcript.say(.server, "stops")
    await server.stop()
    stage.api.sent.removeAll()
    do {
      stage.transcript.say(.caller, "asks for post 9 again")
      try await store.fetch()
      stage.transcript.fail("there is no server to fetch from")
    } catch {
      stage.transcript.say(.caller, "gets an error: \(error.inWords)")
    }
    stage.transcript.check("the client tried 4 times", stage.api.sent.count(of: .post(id: 9)), equals: 4)
    stage.checkRequests(of: .post(id: 9), equal: 1)
    stage.transcript.check("the error is beside the last value", store.error != nil && store.currentValue == post)

    stage.transcript.say(.server, "starts again")
    try await server.start()
    stage.transcript.say(.caller, "asks once more")
    let again = try await store.fetch()
    stage.transcript.check("the post is here again, and the error is gone", again == post && store.error == nil)
    stage.checkRequests(of: .post(id: 9), equal: 2)
    narrator.checkPhases(.idle, .loading, .value, .loading, .error, .loading, .value)
  }
}
