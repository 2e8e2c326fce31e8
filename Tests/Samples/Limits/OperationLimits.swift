import OperationCore
import OperationLimits
import OperationRetry

enum LoadError: Error {
  case busy
}

struct LoadOperation: OperationRequest, Sendable {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, LoadError>
  ) async throws(LoadError) -> Int { sample() }
}

extension OperationContext {
  var tenant: String { "" }
}
