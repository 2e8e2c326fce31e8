import Operation
import OperationCircuitBreaker
import OperationDevtools
import OperationLimits
import OperationScheduling

let limit: ConcurrencyLimit = sample()
let breaker: CircuitBreaker = sample()
let scheduler = OperationScheduler()
