import Operation
import OperationTesting
import Testing

struct Refused: Error {}

struct CannedTransport: Sendable {
  let answer: String
}

extension OperationContext {
  var transport: CannedTransport {
    get { CannedTransport(answer: "") }
    set {}
  }
}

struct TitleQuery: QueryRequest, Hashable {
  let id: Int

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    context.transport.answer
  }
}

extension QueryRequest {
  func timed(_ report: @escaping @Sendable (Duration) -> Void) -> some QueryRequest<Value, Failure> { self }
}
