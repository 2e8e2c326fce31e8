import PostService

extension CommentArchive {
  /// A discussion about post 1.
  static func discussion() -> CommentArchive {
    CommentArchive(
      [
        (1, nil, "Ada", "The light blinked three times tonight."),
        (2, nil, "Ben", "Which kettle?"),
        (3, nil, "Cleo", "I have a photograph."),
        (4, 1, "Ben", "You have counted the moon."),
        (5, 1, "Dora", "It was three."),
        (6, 2, "Ada", "The copper one."),
        (7, 4, "Ada", "There was no moon."),
        (8, 4, "Cleo", "There was."),
        (9, 7, "Ben", "Then what was it?"),
      ].map { id, parent, author, text in
        Comment(id: id, postId: 1, parentId: parent, author: author, text: text)
      }
    )
  }
}
