import OperationCore
import OperationScheduling

struct FetchList: OperationRequest, Sendable {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[String], any Error>
  ) async throws -> [String] { sample() }
}

struct WriteIndex: OperationRequest, Sendable {
  init(of list: [String]) {}

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {}
}

struct LoggedIn: OperationCondition {
  func evaluate(in context: OperationContext) async -> OperationConditionResult { .satisfied }
}

let scheduler = OperationScheduler()
