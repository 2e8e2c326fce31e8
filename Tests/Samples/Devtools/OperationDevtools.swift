import OperationCircuitBreaker
import OperationLimits

let limit: ConcurrencyLimit = sample()
let breaker: CircuitBreaker = sample()
