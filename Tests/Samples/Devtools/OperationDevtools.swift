import Operation
import OperationCircuitBreaker
import OperationDevtools
import OperationLimits

let limit: ConcurrencyLimit = sample()
let breaker: CircuitBreaker = sample()
