import Operation
import PostService

extension Step {
  static let matching = Step("All stores below a path are changed at once, without a request") { stage in
    let client = stage.makeClient()
    stage.transcript.say(.caller, "fetches three posts below \(PathKeys.posts), and one below \(PathKeys.cachedPosts)")
    for id in 6...8 {
      await client.prefetch(for: Post.query(for: id))
    }
    await client.prefetch(for: Post.cachedQuery(for: 6))

    let narrators = (6...8).map { Narrator(post: $0, transcript: stage.transcript) }
    let other = Narrator(post: 6, subject: "cached", transcript: stage.transcript)
    let subscription = OperationSubscription.combined(
      zip(6...8, narrators).map { id, narrator in
        client.store(for: Post.query(for: id)).subscribe(with: narrator.handler)
      } + [client.store(for: Post.cachedQuery(for: 6)).subscribe(with: other.handler)]
    )
    defer { subscription.cancel() }

    stage.clear()
    stage.transcript.say(.caller, "marks all posts below \(PathKeys.posts) as read")
    for store in client.stores(matching: PathKeys.posts) {
      store.withExclusiveAccess { store in
        guard var post = store.currentValue ?? nil else { return }
        post.title += " (read)"
        store.currentValue = post
      }
    }

    for (narrator, id) in zip(narrators, 6...8) {
      let titles = narrator.states.compactMap { ($0.currentValue ?? nil)?.title }
      let isMarked = titles.count == 2 && titles[1] == titles[0] + " (read)"
      stage.transcript.check("post \(id) was marked", isMarked)
    }
    stage.transcript.check("the post at the other path was left alone", other.states.count, equals: 1)
    stage.checkNoRequests()
  }
}
