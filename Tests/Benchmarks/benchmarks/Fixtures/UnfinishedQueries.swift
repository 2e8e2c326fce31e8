internal import OperationCore

/// Waits until it is cancelled.
struct EndlessQuery: QueryRequest {
  typealias State = QueryState<Int, any Error>

  let tokens: TokenCounter

  var path: OperationPath { ["endless"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    let token = self.tokens.token()
    defer { token.touch() }
    let gate = Gate()
    await withTaskCancellationHandler(operation: gate.wait) { gate.open() }
    throw CancellationError()
  }
}

/// Fails at once.
struct FailingQuery: QueryRequest {
  typealias State = QueryState<Int, any Error>

  let tokens: TokenCounter

  var path: OperationPath { ["failing"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    throw Refusal(token: self.tokens.token())
  }

  private struct Refusal: Error {
    let token: TokenCounter.Token
  }
}
