import OperationCore
import OperationMutation
import OperationPagination

typealias Feed = QueryOperation<[Post], any Error>

struct RenamePost: SampleMutation {}

struct DeletePost: SampleMutation {}

struct Draft: Sendable {
  let text: String
}

let drafts: OperationStore<MutationState<Draft, Post, any Error>> = sample()
let text: String = sample()
