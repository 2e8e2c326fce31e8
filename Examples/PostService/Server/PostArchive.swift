import Foundation
import Synchronization

/// The posts that the server holds, in order of their ids.
package final class PostArchive: Sendable {
  private let posts: Mutex<[Post]>

  package init(_ posts: [Post]) {
    self.posts = Mutex(posts.sorted { $0.id < $1.id })
  }

  /// The posts of `Resources/posts.json`.
  package static func bundled() throws -> PostArchive {
    guard let url = Bundle.module.url(forResource: "posts", withExtension: "json") else {
      throw CocoaError(.fileNoSuchFile)
    }
    return PostArchive(try JSONDecoder().decode([Post].self, from: Data(contentsOf: url)))
  }

  package subscript(id: Int) -> Post? {
    self.posts.withLock { $0.first { $0.id == id } }
  }

  /// A limit of 0 means all that is left, as it does at dummyjson.com.
  package func page(limit: Int, skip: Int) -> PostPage {
    self.posts.withLock { posts in
      let rest = posts.dropFirst(skip)
      let page = Array(limit == 0 ? rest : rest.prefix(limit))
      return PostPage(posts: page, total: posts.count, skip: skip, limit: page.count)
    }
  }

  package func add(_ draft: PostDraft) -> Post {
    self.posts.withLock { posts in
      let id = (posts.last?.id ?? 0) + 1
      let post = Post(id: id, userId: draft.userId, title: draft.title, body: draft.body)
      posts.append(post)
      return post
    }
  }

  /// Changes a post as an edit of another user does. Clients are not notified.
  package func edit(id: Int, _ change: (inout Post) -> Void) {
    self.posts.withLock { posts in
      guard let index = posts.firstIndex(where: { $0.id == id }) else { return }
      change(&posts[index])
    }
  }
}
