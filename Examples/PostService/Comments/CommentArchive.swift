import Synchronization

/// The comments that the server holds.
package final class CommentArchive: Sendable {
  private struct State {
    var comments: [Comment]
    /// No id is given twice, also when its comment was removed.
    var lastID: Int
  }

  private let state: Mutex<State>

  package init(_ comments: [Comment]) {
    self.state = Mutex(State(comments: comments, lastID: comments.map(\.id).max() ?? 0))
  }

  /// Whether there is such a comment.
  package func contains(_ id: Int) -> Bool {
    self.state.withLock { $0.comments.contains { $0.id == id } }
  }

  /// The comments on a post, without their replies.
  package func comments(on post: Int) -> [Comment] {
    self.state.withLock { state in
      state.comments.filter { $0.postId == post && $0.parentId == nil }.counted(in: state.comments)
    }
  }

  /// The replies to a comment, without theirs.
  package func replies(to id: Int) -> [Comment] {
    self.state.withLock { state in state.comments.filter { $0.parentId == id }.counted(in: state.comments) }
  }

  /// Adds a reply; nil when the comment is gone.
  @discardableResult
  package func add(_ draft: ReplyDraft, to id: Int) -> Comment? {
    self.state.withLock { state in
      guard let parent = state.comments.first(where: { $0.id == id }) else { return nil }
      state.lastID += 1
      let (author, text) = (draft.author, draft.text)
      let reply = Comment(id: state.lastID, postId: parent.postId, parentId: id, author: author, text: text)
      state.comments.append(reply)
      return reply
    }
  }

  /// Removes a comment and all replies below it. Clients are not notified.
  package func remove(_ id: Int) {
    self.state.withLock { state in
      var removed: Set<Int> = [id]
      // A reply comes after what it replies to.
      for comment in state.comments where comment.parentId.map(removed.contains) == true { removed.insert(comment.id) }
      state.comments.removeAll { removed.contains($0.id) }
    }
  }
}

extension [Comment] {
  /// The comments with the numbers of their replies among `all`.
  fileprivate func counted(in all: [Comment]) -> [Comment] {
    self.map { comment in
      var comment = comment
      comment.replyCount = all.count { $0.parentId == comment.id }
      return comment
    }
  }
}
