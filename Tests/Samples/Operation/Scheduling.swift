import Operation
import OperationScheduling

let names = ["a", "b", "c"]

struct WriteIndex: EmptyOperation {}
struct Upload: EmptyOperation {}

struct Download: EmptyOperation {
  let name: String
}

struct SavePage: EmptyOperation {
  init(_ page: String) {}
}

struct FetchPage: OperationRequest, Sendable {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String { sample() }
}

struct LoggedIn: OperationCondition {
  func evaluate(in context: OperationContext) async -> OperationConditionResult { .satisfied }
}
