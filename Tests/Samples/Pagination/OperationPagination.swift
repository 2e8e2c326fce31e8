import OperationCore
import OperationPagination

let draft = Post(draft: "A draft")
func showEnd() {}
