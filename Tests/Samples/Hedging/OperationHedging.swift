import OperationCore
import OperationHedging

struct RenameFile: OperationRequest, Sendable {
  let name: String

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String { sample() }
}

struct NotFound: Error {}
