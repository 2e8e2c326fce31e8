import OperationCore
import OperationMutation

struct RenamePost: SampleMutation {}

struct DeletePost: SampleMutation {}

struct HidePost: MutationRequest, Hashable {
  func mutate(
    isolation: isolated (any Actor)?,
    with id: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {}
}

struct Draft: Sendable {
  let text: String
}

let drafts: OperationStore<MutationState<Draft, Post, any Error>> = sample()
let text: String = sample()
