import OperationCore
import OperationMutation
import OperationPagination

typealias Feed = QueryOperation<[Post], any Error>

struct RenamePost: SampleMutation {}

struct DeletePost: SampleMutation {}
