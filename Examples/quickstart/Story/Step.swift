import PostService

/// One scene of the story.
///
/// It prints what it does to the transcript of the stage, and checks its outcome.
struct Step: Sendable {
  let title: String
  let body: Body

  enum Body: Sendable {
    case withAnyServer(@Sendable (Stage) async throws -> Void)
    /// Needs failures, edits or a stop, which only our own server supports.
    case withOwnServer(@Sendable (Stage, PostServer) async throws -> Void)
  }

  init(_ title: String, with play: @escaping @Sendable (Stage) async throws -> Void) {
    self.title = title
    self.body = .withAnyServer(play)
  }

  init(_ title: String, withOwnServer play: @escaping @Sendable (Stage, PostServer) async throws -> Void) {
    self.title = title
    self.body = .withOwnServer(play)
  }
}
