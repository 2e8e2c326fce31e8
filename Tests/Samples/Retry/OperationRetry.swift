import OperationBackoff
import OperationCore
import OperationRetry

let context = OperationContext()
let fallback = "b.example"
let primary = "a.example"
