import OperationBackoff
import OperationCircuitBreaker
import OperationCore
import OperationRetry

enum LoadError: Error {
  case unavailable
}

struct LoadOperation: OperationRequest, Sendable {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, LoadError>
  ) async throws(LoadError) -> Int { sample() }
}

func log(_ line: String) {}
