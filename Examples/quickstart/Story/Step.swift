import PostService

/// One scene of the story.
///
/// It says what it does on the stage's account and checks its own outcome there.
struct Step: Sendable {
  let title: String
  let body: Body

  enum Body: Sendable {
    case withAnyServer(@Sendable (Stage) async throws -> Void)
    /// Needs failures, edits or a stop that only our own server can be asked for.
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
