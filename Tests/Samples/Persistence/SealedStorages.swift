import Operation
import OperationPersistence

let key: any SealingKey = sample()
let newKey: any SealingKey = sample()
let oldKey: any SealingKey = sample()
