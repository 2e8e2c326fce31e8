import Operation
import PostService

extension Step {
  static let outage = Step("A dead server is an error beside the last value, until it is back") { stage, server in
    stage.account.say(.caller, "subscribes to post 9")
    let log = AttemptLog(account: stage.account)
    let store = stage.makeClient().store(for: Post.query(for: 9).logAttempts(to: log))
    let narrator = Narrator(post: 9, account: stage.account)
    let subscription = store.subscribe(with: narrator.handler)
    defer { subscription.cancel() }
    let post = try await store.fetch()

    stage.account.say(.server, "stops")
    await server.stop()
    stage.api.sent.removeAll()
    do {
      stage.account.say(.caller, "asks for post 9 again")
      try await store.fetch()
      stage.account.fail("there is no server to fetch from")
    } catch {
      stage.account.say(.caller, "is told: \(error.inWords)")
    }
    stage.account.check("the client tried 4 times", stage.api.sent.count(of: .post(id: 9)), equals: 4)
    stage.checkRequests(of: .post(id: 9), equal: 1)
    stage.account.check("the error is beside the last value", store.error != nil && store.currentValue == post)

    stage.account.say(.server, "starts again")
    try await server.start()
    stage.account.say(.caller, "asks once more")
    let again = try await store.fetch()
    stage.account.check("the post is here again, and the error is gone", again == post && store.error == nil)
    stage.checkRequests(of: .post(id: 9), equal: 2)
    narrator.checkPhases(.idle, .loading, .value, .loading, .error, .loading, .value)
  }
}
