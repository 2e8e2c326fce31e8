package struct Post: Hashable, Identifiable, Codable, Sendable {
  package let id: Int
  package var userId: Int
  package var title: String
  package var body: String

  package init(id: Int, userId: Int, title: String, body: String) {
    self.id = id
    self.userId = userId
    self.title = title
    self.body = body
  }
}

/// A post that has no id yet, as it is sent to the server.
package struct PostDraft: Hashable, Codable, Sendable {
  package var userId: Int
  package var title: String
  package var body: String

  package init(userId: Int, title: String, body: String) {
    self.userId = userId
    self.title = title
    self.body = body
  }
}

package struct PostPage: Hashable, Codable, Sendable {
  package var posts: [Post]
  package var total: Int
  package var skip: Int
  package var limit: Int
}

extension Post {
  /// A draft as it is shown until the server has given it an id.
  package init(_ draft: PostDraft) {
    self.init(id: 0, userId: draft.userId, title: draft.title, body: draft.body)
  }

  package var isDraft: Bool { self.id == 0 }
}

extension Post {
  package var inWords: String { (self.isDraft ? "the draft " : "") + "\"\(self.title)\"" }
}

extension Post? {
  package var inWords: String { self?.inWords ?? "no such post" }
}
