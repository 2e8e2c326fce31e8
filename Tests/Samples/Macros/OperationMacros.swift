import Operation

struct File: Sendable, Hashable {}
struct Receipt: Sendable {}
struct Session: Sendable {}

let file = File()

extension OperationContext {
  struct PostCache: Sendable {
    func post(_ id: Int) async throws -> Post? { sample() }
  }

  var cache: PostCache { sample() }
  var server: Server { sample() }
}

struct CommentPage: Sendable {
  var comments: [Comment]
  var nextCursor: String?
}

extension Server {
  func comments(on post: Int, after cursor: String?) async throws -> CommentPage { sample() }
}

@MainActor final class Settings {
  static let shared = Settings()
  var limit = 20
}
