import PostService
import Synchronization

/// The posts as the server last had them, for when it does not answer.
final class PostCache: Sendable {
  private let posts = Mutex<[Int: Post]>([:])

  subscript(id: Int) -> Post? {
    get { self.posts.withLock { $0[id] } }
    set { self.posts.withLock { $0[id] = newValue } }
  }
}
