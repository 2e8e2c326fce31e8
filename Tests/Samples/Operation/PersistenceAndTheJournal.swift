import Operation
import OperationPersistence

let folder = ""
