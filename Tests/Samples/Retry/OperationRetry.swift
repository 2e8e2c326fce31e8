import OperationBackoff
import OperationCore
import OperationRetry

let context = OperationContext()
let fallback = "b.example"
let primary = "a.example"

enum Export: Sendable {
  case pending
  case ready
}

struct ExportQuery: QueryRequest, Hashable {
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Export, any Error>
  ) async throws -> Export { sample() }
}
