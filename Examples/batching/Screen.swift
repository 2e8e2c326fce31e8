import Operation
import PostService

/// A row of a screen: a post, and its author.
struct Row: Hashable, Sendable {
  let post: Post
  let author: Author
}

/// A screen with the posts of a blog, page by page.
struct Screen: Sendable {
  let blog: Blog

  var hasNextPage: Bool { self.blog.feed.hasNextPage }

  /// Loads the next page and the author of each of its posts, as if each row were alone.
  func loadNextPage() async throws -> [Row] {
    guard let page = try await self.blog.feed.fetchNextPage() else { return [] }
    let authors = try await withThrowingTaskGroup { group in
      for post in page.value.posts {
        // At once, so that all rows have asked before the window of the batch is over.
        group.addImmediateTask { try await self.blog.author(id: post.userId) }
      }
      return try await group.reduce(into: [:]) { $0[$1.id] = $1 }
    }
    return page.value.posts.compactMap { post in
      authors[post.userId].map { Row(post: post, author: $0) }
    }
  }
}
