import Operation
import PostService

extension Narrator<QueryState<Post?, any Error>> {
  convenience init(post id: Int, subject: String = "post", account: Account) {
    self.init("\(subject) \(id)", account: account) { $0.map(\.inWords) }
  }
}

extension Narrator<Post.FeedQuery.State> {
  convenience init(feedOn account: Account) {
    self.init("feed", account: account) { pages in
      guard let last = pages.posts.last else { return nil }
      let pageCount = pages.count == 1 ? "1 page" : "\(pages.count) pages"
      return "\(pages.posts.count) posts on \(pageCount), the last one \(last.inWords)"
    }
  }
}

extension Narrator<Post.CreateMutation.State> {
  convenience init(creationOn account: Account) {
    self.init("creation", account: account) { $0?.inWords }
  }
}
