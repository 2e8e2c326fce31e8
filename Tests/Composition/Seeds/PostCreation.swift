import Operation

// The reference documents' mutation, with a server that accepts everything.

extension Post {
  static let createMutation = CreateMutation()

  struct CreateMutation: MutationRequest, Hashable, Sendable {
    struct Arguments: Codable, Sendable {
      let userId: Int
      let title: String
      let body: String
    }

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: Arguments,
      in context: OperationContext,
      with continuation: OperationContinuation<Post, any Error>
    ) async throws -> Post {
      Post(id: 101, userId: arguments.userId, title: arguments.title, body: arguments.body)
    }
  }
}
