import Operation

extension OperationRequest {
  /// Logs each attempt that fails, and the wait before the next one.
  func logAttempts(to log: AttemptLog) -> ModifiedOperation<Self, AttemptLogging<Self>> {
    self.modifier(AttemptLogging(log: log))
  }
}

/// A modifier of our own, nearer to the work than the client's retry, so that it sees each attempt.
struct AttemptLogging<Operation: OperationRequest>: OperationModifier {
  let log: AttemptLog

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let attempt = AttemptLog.Attempt(retry: context.operationRetryIndex, limit: context.operationMaxRetries)
    self.log.begin(attempt)
    do throws(Operation.Failure) {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    } catch {
      self.log.fail(attempt, with: error)
      throw error
    }
  }
}
