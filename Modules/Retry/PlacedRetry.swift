internal import OperationCore

/// The retry of a client that makes its attempts inside of what bounds or replaces their outcome.
struct PlacedRetry: AttemptMaker {
  let id = RetryID.next()
  let limit: Int

  func makeAttempts<Operation: OperationRequest>(
    of operation: Operation,
    until end: Duration?,
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    try await Retry<Operation>(self)
      .run(until: end, isolation: isolation, in: context, using: operation, with: continuation)
  }
}
