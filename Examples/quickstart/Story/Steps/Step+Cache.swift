import Operation
import PostService

extension Step {
  static let cachedFirst = Step("A cached post is shown until the live one is here") { stage in
    let cached = Post(id: 5, userId: 4, title: "A title from yesterday", body: "It was the best one yet.")
    let client = stage.makeClient()
    client.defaultContext.postCache = PostCache([cached])
    stage.transcript.say(.caller, "subscribes to post 5, of which an old copy is in a cache")
    let store = client.store(for: Post.cachedQuery(for: 5))
    let narrator = Narrator(post: 5, transcript: stage.transcript)
    let subscription = store.subscribe(with: narrator.handler)
    defer { subscription.cancel() }

    let live = try await store.fetch()
    stage.transcript.say(.caller, "has \(live.inWords)")

    stage.transcript.check("the live post is another than the cached one", live != nil && live != cached)
    let shown = narrator.states.map { $0.currentValue ?? nil }
    let isInOrder = shown == [nil, nil, cached, live]
    stage.transcript.check("nothing was shown at first, then the cached post, then the live one", isInOrder)
    narrator.checkPhases(.idle, .loading, .loading, .value)
    stage.checkRequests(of: .post(id: 5), equal: 1)
  }
}
