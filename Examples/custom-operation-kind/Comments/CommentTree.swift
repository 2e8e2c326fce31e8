import Operation
import PostService

/// The comments on a post, with the replies that were loaded.
struct CommentTree: TreeRequest {
  let postID: Int

  var path: OperationPath { ["comments", self.postID] }

  func fetchChildren(
    of parent: Int?,
    isolation: isolated (any Actor)?,
    in context: OperationContext
  ) async throws -> [Tree<Int, Comment>.Node] {
    let comments =
      if let parent {
        try await context.postAPI.replies(to: parent)
      } else {
        try await context.postAPI.comments(on: self.postID)
      }
    return comments.map { Tree.Node(id: $0.id, value: $0) }
  }
}

/// Replies to a comment. Trees show the reply at once, and remove it again if the server refuses it.
struct AddReply: MutationRequest {
  struct Arguments: Sendable {
    let comment: Int
    let draft: ReplyDraft
  }

  let path: OperationPath = ["add-reply"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Comment, any Error>
  ) async throws -> Comment {
    try await context.postAPI.reply(arguments.draft, to: arguments.comment)
  }

  /// The mutation with its effect on the trees of a post.
  static func on(post: Int) -> some MutationRequest<Arguments, Comment, any Error> {
    AddReply()
      .optimistic(on: ["comments", post], of: CommentTree.State.self) { tree, arguments in
        guard let replies = tree.children(of: arguments.comment) else { return }
        let (author, text) = (arguments.draft.author, arguments.draft.text)
        let reply = Comment(id: 0, postId: post, parentId: arguments.comment, author: author, text: text)
        tree.setChildren(replies + [Tree.Node(id: reply.id, value: reply)], of: arguments.comment)
      }
      .invalidates(matching: ["comments", post])
  }
}

extension OperationContext {
  /// The server of the operations.
  var postAPI: PostAPI {
    get {
      guard let api = self[PostAPIKey.self] else { preconditionFailure("The client's default context has no PostAPI.") }
      return api
    }
    set { self[PostAPIKey.self] = newValue }
  }

  private enum PostAPIKey: Key {
    static let defaultValue: PostAPI? = nil
  }
}
