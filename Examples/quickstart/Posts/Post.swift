struct Post: Hashable, Identifiable, Codable, Sendable {
  let id: Int
  var userId: Int
  var title: String
  var body: String
}

/// A post that has no id yet, as it is sent to the server.
struct PostDraft: Hashable, Codable, Sendable {
  var userId: Int
  var title: String
  var body: String
}

struct PostPage: Hashable, Codable, Sendable {
  var posts: [Post]
  var total: Int
  var skip: Int
  var limit: Int
}

extension Post {
  /// A draft as it is shown until the server has given it an id.
  init(_ draft: PostDraft) {
    self.init(id: 0, userId: draft.userId, title: draft.title, body: draft.body)
  }

  var isDraft: Bool { self.id == 0 }
}

extension Post {
  var inWords: String { (self.isDraft ? "the draft " : "") + "\"\(self.title)\"" }
}

extension Post? {
  var inWords: String { self?.inWords ?? "no such post" }
}
