import PostService
import Synchronization

/// Posts that an earlier run of the program might have left on disk.
final class PostCache: Sendable {
  private let posts: Mutex<[Int: Post]>

  init(_ posts: [Post] = []) {
    self.posts = Mutex(Dictionary(uniqueKeysWithValues: posts.map { ($0.id, $0) }))
  }

  subscript(id: Int) -> Post? {
    get { self.posts.withLock { $0[id] } }
    set { self.posts.withLock { $0[id] = newValue } }
  }
}
