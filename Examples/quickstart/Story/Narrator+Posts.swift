import Operation
import PostService

extension Narrator<QueryState<Post?, any Error>> {
  convenience init(post id: Int, subject: String = "post", transcript: Transcript) {
    self.init("\(subject) \(id)", transcript: transcript) { $0.map(\.inWords) }
  }
}

extension Narrator<Post.FeedQuery.State> {
  convenience init(feedOn transcript: Transcript) {
    self.init("feed", transcript: transcript) { pages in
      guard let last = pages.posts.last else { return nil }
      let pageCount = pages.count == 1 ? "1 page" : "\(pages.count) pages"
      return "\(pages.posts.count) posts on \(pageCount), the last one \(last.inWords)"
    }
  }
}

extension Narrator<Post.CreateMutation.State> {
  convenience init(creationOn transcript: Transcript) {
    self.init("creation", transcript: transcript) { $0?.inWords }
  }
}
