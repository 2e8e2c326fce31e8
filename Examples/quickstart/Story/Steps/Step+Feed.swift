import Operation
import PostService

extension Step {
  static let feed = Step("A feed is read page by page, to its end") { stage in
    // Three pages, the last one shorter.
    let query = Post.feedQuery(pagesOf: stage.postCount / 3 + 2).disableAutomaticRunning()
    let store = stage.makeClient().store(for: query)
    let narrator = Narrator(feedOn: stage.transcript)
    let subscription = store.subscribe(with: narrator.handler)

    stage.transcript.say(.caller, "asks for the next page as long as there is one")
    while store.hasNextPage, let page = try await store.fetchNextPage() {
      stage.transcript.say(.caller, "has \(page.value.posts.count) more posts")
    }
    subscription.cancel()

    let ids = store.currentValue.posts.map(\.id)
    let isComplete = ids.count == stage.postCount && Set(ids).count == stage.postCount
    stage.transcript.check("all \(stage.postCount) posts are there, each once", isComplete)
    stage.transcript.check("asked once more, the feed has no page", try await store.fetchNextPage() == nil)
    let pageCount = store.currentValue.count
    stage.checkRequests(of: .feed, equal: pageCount)
    narrator.checkPhases([.idle] + Array(repeating: [.loading, .value], count: pageCount).joined())
  }
}
