extension PostAPI {
  /// The comments on a post, without their replies.
  package func comments(on post: Int) async throws -> [Comment] {
    try await self.get(.comments(post: post), path: "posts/\(post)/comments", as: CommentList.self).comments
  }

  /// The replies to a comment, without theirs.
  package func replies(to id: Int) async throws -> [Comment] {
    try await self.get(.replies(comment: id), path: "comments/\(id)/replies", as: CommentList.self).comments
  }

  /// Adds a reply to a comment.
  package func reply(_ draft: ReplyDraft, to id: Int) async throws -> Comment {
    try await self.post(draft, as: .reply(comment: id), path: "comments/\(id)/replies", decoding: Comment.self)
  }
}
