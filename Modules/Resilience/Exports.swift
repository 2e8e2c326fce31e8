@_exported public import OperationBackoff
@_exported public import OperationBatching
@_exported public import OperationCircuitBreaker
@_exported public import OperationFallback
@_exported public import OperationHedging
@_exported public import OperationLimits
@_exported public import OperationRetry
@_exported public import OperationTimeout
