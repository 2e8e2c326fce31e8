@_exported public import OperationActivityObserving
@_exported public import OperationBackoff
@_exported public import OperationBatching
@_exported public import OperationCircuitBreaker
@_exported public import OperationCore
@_exported public import OperationDedupe
@_exported public import OperationEvents
@_exported public import OperationFallback
@_exported public import OperationFreshness
@_exported public import OperationHedging
@_exported public import OperationLimits
@_exported public import OperationMemoryPressure
@_exported public import OperationMutation
@_exported public import OperationNetworkObserving
@_exported public import OperationPagination
@_exported public import OperationPausing
@_exported public import OperationRetry
@_exported public import OperationStreams
@_exported public import OperationTags
@_exported public import OperationTimeout

#if SwiftOperationConfiguration
  @_exported public import OperationConfiguration
#endif

#if SwiftOperationLogging
  @_exported public import OperationLogging
#endif

#if SwiftOperationMacros
  @_exported public import OperationMacros
#endif

#if SwiftOperationMetrics
  @_exported public import OperationMetrics
#endif

#if SwiftOperationServiceLifecycle
  @_exported public import OperationServiceLifecycle
#endif

#if SwiftOperationTracing
  @_exported public import OperationTracing
#endif
