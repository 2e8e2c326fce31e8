internal import OperationBackoff
public import OperationCore

extension OperationRequest {
  /// Runs the operation again when it fails, up to `limit` times after the first attempt.
  ///
  /// Attempts are set apart by the backoff function of the context. Their last error is thrown as it is. When the task is
  /// cancelled there are no more attempts, and a `CancellationError` is not retried at all.
  ///
  /// The limit is configuration: what is nearer to the operation wins. An operation that sets
  /// ``OperationCore/OperationContext/operationMaxRetries`` in its setup has its way, and of two retries around one
  /// operation the inner one counts, with its limit and its condition; the outer one steps aside.
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
  ///   - condition: Gets the error of an attempt and its context. It decides for a `CancellationError` too, and is not
  ///     asked after the last attempt or once the task is cancelled.
  public func retry(
    limit: Int,
    when condition: @escaping @Sendable (Failure, OperationContext) -> Bool
  ) -> ModifiedOperation<Self, Retry<Self>> {
    self.modifier(Retry(limit: limit, condition: condition))
  }
}

/// Runs an operation again when it fails: what ``OperationCore/OperationRequest/retry(limit:)`` applies.
public struct Retry<Operation: OperationRequest>: OperationModifier {
  @usableFromInline let id = RetryID.next()
  private let limit: Int
  private let condition: (@Sendable (Operation.Failure, OperationContext) -> Bool)?

  init(limit: Int, condition: (@Sendable (Operation.Failure, OperationContext) -> Bool)?) {
    self.limit = limit.validRetryLimit
    self.condition = condition
  }

  /// Writes the limit, and lets the operation write after it.
  public func setup(context: inout OperationContext, using operation: Operation) {
    context.retryConfiguration = RetryConfiguration(limit: self.limit, owner: self.id)
    operation.setup(context: &context)
    if context.retryConfiguration.owner != self.id { context.noteOuterRetry(self.id) }
  }

  /// Runs the operation until it succeeds or has no more retries.
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
      guard await self.wait(before: index + 1, in: context) else { break }
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

  /// Waits before a retry. False when there is to be none: the delay was cut short, or the task is cancelled.
  private func wait(before retry: Int, in context: OperationContext) async -> Bool {
    do {
      try await context.operationDelayer.delay(for: context.operationBackoffFunction(retry))
    } catch {
      return false
    }
    return !Task.isCancelled
  }
}

// MARK: - Whose configuration it is

extension Retry {
  /// Whether there is another retry inside, which is the one that counts.
  private func isOuter(in context: OperationContext) -> Bool {
    context.isOuterRetry(self.id) || Operation.self.hasRetry
  }

  /// Whether a first attempt by this retry can begin with the context as it is.
  @usableFromInline
  func isFresh(_ context: OperationContext) -> Bool { context.retryConfiguration.isFresh(for: self.id) }

  /// The context of a first attempt by this retry.
  ///
  /// What comes in may have been set up for the operation whose body runs this one, or for none: then the limit in it is
  /// only taken when somebody has set it by hand.
  @usableFromInline
  func claiming(_ context: OperationContext) -> OperationContext {
    guard !self.isOuter(in: context) else { return context }
    let configuration = context.retryConfiguration
    let isOurs = configuration.owner == self.id || configuration.isSetByHand
    var context = context
    // The run of another operation, whose body runs this one: its attempts are not ours.
    if let owner = configuration.owner, owner != self.id { context.forgetAttempts() }
    context.retryConfiguration = RetryConfiguration(limit: isOurs ? configuration.limit : self.limit, owner: self.id)
    return context
  }
}
