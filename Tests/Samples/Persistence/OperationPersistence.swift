import OperationCore
import OperationMutation
import OperationPersistence

let storage = InMemoryStorage()
let id = 1
