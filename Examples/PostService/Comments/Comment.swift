/// A comment on a post, or a reply to another comment.
package struct Comment: Hashable, Identifiable, Codable, Sendable {
  package let id: Int
  package let postId: Int
  /// The comment that this one replies to; nil when it is on the post itself.
  package let parentId: Int?
  package var author: String
  package var text: String
  /// How many comments reply to this one. Their replies do not count.
  package var replyCount = 0

  package init(id: Int, postId: Int, parentId: Int?, author: String, text: String, replyCount: Int = 0) {
    self.id = id
    self.postId = postId
    self.parentId = parentId
    self.author = author
    self.text = text
    self.replyCount = replyCount
  }
}

/// A reply that has no id yet, as it is sent to the server.
package struct ReplyDraft: Hashable, Codable, Sendable {
  package var author: String
  package var text: String

  package init(author: String, text: String) {
    self.author = author
    self.text = text
  }
}

/// Comments as the server sends them: in a field, so that others can be added.
package struct CommentList: Codable, Sendable {
  package var comments: [Comment]
}
