internal import OperationBackoff
public import OperationCore

extension OperationRequest {
  /// Runs the operation again when it fails, up to `limit` times after the first attempt.
  ///
  /// The backoff function of the context sets the delays between attempts. The error of the last attempt is thrown
  /// unchanged. A cancelled task makes no further attempt, and a `CancellationError` is not retried.
  ///
  /// The limit is configuration: a value written nearer to the operation wins. So an operation can set
  /// ``OperationCore/OperationContext/operationMaxRetries`` in its setup. Of two retries around one operation only the
  /// inner one applies, with its limit and its condition; the outer one does nothing.
  ///
  /// - Parameter limit: The number of retries. A negative number is reported and counts as 0.
  public func retry(limit: Int) -> ModifiedOperation<Self, Retry<Self>> {
    self.modifier(Retry(limit: limit, condition: nil))
  }

  /// Runs the operation again when it fails and `condition` holds, up to `limit` times after the first attempt.
  ///
  /// See ``retry(limit:)``.
  ///
  /// - Parameters:
  ///   - limit: The number of retries. A negative number is reported and counts as 0.
  ///   - condition: Receives the error of an attempt and its context. It also decides for a `CancellationError`. It is
  ///     not called after the last attempt or once the task is cancelled.
  public func retry(
    limit: Int,
    when condition: @escaping @Sendable (Failure, OperationContext) -> Bool
  ) -> ModifiedOperation<Self, Retry<Self>> {
    self.modifier(Retry(limit: limit, condition: condition))
  }
}

/// Runs an operation again when it fails; applied by ``OperationCore/OperationRequest/retry(limit:)``.
public struct Retry<Operation: OperationRequest>: OperationModifier {
  @usableFromInline let id = RetryID.next()
  private let limit: Int
  private let condition: (@Sendable (Operation.Failure, OperationContext) -> Bool)?

  init(limit: Int, condition: (@Sendable (Operation.Failure, OperationContext) -> Bool)?) {
    self.limit = limit.validRetryLimit
    self.condition = condition
  }

  /// Writes the limit, then sets up the operation, which may overwrite it.
  public func setup(context: inout OperationContext, using operation: Operation) {
    context.retryConfiguration = RetryConfiguration(limit: self.limit, owner: self.id)
    operation.setup(context: &context)
    if context.retryConfiguration.owner != self.id { context.noteOuterRetry(self.id) }
    if context.operationMaxRetries > 0 { context.operationMakesAttempts = true }
  }

  /// Runs the operation until it succeeds or no retries are left.
  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let context = self.isFresh(context) ? context : self.claiming(context)
    do throws(Operation.Failure) {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    } catch {
      return try await self.retry(after: error, isolation: isolation, in: context, using: operation, with: continuation)
    }
  }
}

// MARK: - Attempts

extension Retry {
  @usableFromInline
  func retry(
    after error: Operation.Failure,
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    guard !self.isOuter(in: context) else { throw error }
    let limit = context.operationMaxRetries
    var (context, error) = (context, error)
    var index = 0
    while index < limit, !Task.isCancelled, self.mayRetry(after: error, in: context) {
      guard await self.wait(before: index + 1, after: error, in: context) else { break }
      context.operationRetryIndex = index
      context.beginNextAttempt(after: error)
      do throws(Operation.Failure) {
        return try await operation.run(isolation: isolation, in: context, with: continuation)
      } catch let next {
        error = next
      }
      index += 1
    }
    throw error
  }

  private func mayRetry(after error: Operation.Failure, in context: OperationContext) -> Bool {
    self.condition?(error, context) ?? !(error is CancellationError)
  }

  /// Waits before a retry, and for what the context asks for. Returns false if the delay has failed or the task is cancelled: there is no retry then.
  private func wait(
    before retry: Int,
    after error: Operation.Failure,
    in context: OperationContext
  ) async -> Bool {
    let delay = context.operationBackoffFunction(retry)
    context.attemptFailed(with: error, nextAfter: delay)
    do {
      try await context.operationDelayer.delay(for: delay)
    } catch {
      return false
    }
    return await context.pauseBeforeNextAttempt()
  }
}

// MARK: - Owner of the configuration

extension Retry {
  /// Whether there is another retry inside; that one applies instead.
  private func isOuter(in context: OperationContext) -> Bool {
    context.isOuterRetry(self.id) || Operation.self.hasRetry
  }

  /// Whether the first attempt by this retry can use the context unchanged.
  @usableFromInline
  func isFresh(_ context: OperationContext) -> Bool { context.retryConfiguration.isFresh(for: self.id) }

  /// The context for the first attempt by this retry.
  ///
  /// The given context may have been set up for another operation, whose body runs this one, or not at all. Its limit
  /// is then used only if it was set explicitly.
  @usableFromInline
  func claiming(_ context: OperationContext) -> OperationContext {
    guard !self.isOuter(in: context) else { return context }
    let configuration = context.retryConfiguration
    let isOurs = configuration.owner == self.id || configuration.isSetByHand
    var context = context
    // The context belongs to another operation, whose body runs this one: its attempts are not counted here.
    if let owner = configuration.owner, owner != self.id { context.forgetAttempts() }
    context.retryConfiguration = RetryConfiguration(limit: isOurs ? configuration.limit : self.limit, owner: self.id)
    return context
  }
}
