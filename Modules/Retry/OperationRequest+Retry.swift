public import OperationCore

extension OperationRequest {
  /// Runs the operation again when it fails, up to `limit` times after the first attempt.
  ///
  /// The backoff function of the context sets the delays between attempts, unless the error sets one: see
  /// ``/OperationCore/RetryHinting`` and ``/OperationCore/RetryClassifying``. The error of the last attempt is thrown
  /// unchanged. A cancelled task makes no further attempt, and a `CancellationError` is not retried. No attempt is
  /// made that could not begin before ``/OperationCore/OperationContext/operationDeadline``.
  ///
  /// The limit is configuration: a value written nearer to the operation wins. So an operation can set
  /// ``OperationCore/OperationContext/operationMaxRetries`` in its setup. Of two retries around one operation only the
  /// inner one applies, with its limit and its condition; the outer one does nothing.
  ///
  /// - Parameter limit: The number of retries. A negative number is reported and counts as 0.
  /// - Returns: The operation with the retries around it: one run makes one or more attempts.
  public func retry(limit: Int) -> ModifiedOperation<Self, Retry<Self>> {
    self.modifier(Retry(limit: limit))
  }

  /// Runs the operation again when it fails, as the default that a client applies to the operations of its stores.
  ///
  /// For store creators: what the user of the client writes bounds this retry, and replaces it. Its attempts are made
  /// directly inside of the innermost modifier that bounds or replaces the outcome: a timeout, a deadline, a fallback,
  /// or one of your own, see ``/OperationCore/OutcomeModifierIdentifier``. Without such a modifier it is
  /// ``retry(limit:)``. It does nothing if the operation has a retry of its own. Inside of a timeout it gives up when
  /// its next attempt could not begin in time.
  ///
  /// - Parameter limit: The number of retries. A negative number is reported and counts as 0.
  /// - Returns: The operation with the retries: one run makes one or more attempts.
  public func defaultRetry(limit: Int) -> ModifiedOperation<Self, Retry<Self>> {
    self.modifier(Retry(limit: limit, isDefault: true))
  }

  /// Runs the operation again when it fails and `condition` holds, up to `limit` times after the first attempt.
  ///
  /// See ``retry(limit:)``.
  ///
  /// - Parameters:
  ///   - limit: The number of retries. A negative number is reported and counts as 0.
  ///   - condition: Receives the error of an attempt and its context. It also decides for a `CancellationError`, and in
  ///     place of ``/OperationCore/RetryClassifying``. It is not called after the last attempt or once the task is
  ///     cancelled.
  /// - Returns: The operation with the retries around it: one run makes one or more attempts.
  public func retry(
    limit: Int,
    when condition: @escaping @Sendable (Failure, OperationContext) -> Bool
  ) -> ModifiedOperation<Self, Retry<Self>> {
    self.modifier(Retry(limit: limit, condition: condition))
  }

  /// Runs the operation again when it fails, as settings say that can be changed while it runs.
  ///
  /// See ``retry(limit:)``. The limit, the backoff and the other settings are read when an attempt has failed, so a change
  /// counts from the next failure on, also in stores and runs that exist. The limit is configuration: an operation that
  /// sets ``OperationCore/OperationContext/operationMaxRetries`` in its setup keeps that.
  ///
  /// - Parameters:
  ///   - settings: The settings, which other operations may share.
  ///   - condition: Receives the error of an attempt and its context, and returns whether to run the operation again; nil
  ///     for the rules of ``retry(limit:)``.
  /// - Returns: The operation with the retries around it: one run makes one or more attempts.
  public func retry(
    using settings: RetrySettings,
    when condition: (@Sendable (Failure, OperationContext) -> Bool)? = nil
  ) -> ModifiedOperation<Self, Retry<Self>> {
    self.modifier(Retry(settings, condition: condition))
  }

  /// Runs the operation again when it fails and `condition` holds, up to `limit` times after the first attempt.
  ///
  /// ```swift
  /// let query = PostQuery(id: 1).retry(limit: 3) { $0 is ServerBusy }
  /// ```
  ///
  /// See ``retry(limit:when:)-(_,(Self.Failure,OperationContext)->Bool)``.
  ///
  /// - Parameters:
  ///   - limit: The number of retries. A negative number is reported and counts as 0.
  ///   - condition: Receives the error of an attempt.
  /// - Returns: The operation with the retries around it: one run makes one or more attempts.
  public func retry(
    limit: Int,
    when condition: @escaping @Sendable (Failure) -> Bool
  ) -> ModifiedOperation<Self, Retry<Self>> {
    self.modifier(Retry(limit: limit, condition: { failure, _ in condition(failure) }))
  }

  /// Runs the operation again when it fails, or returns a value that asks for another attempt.
  ///
  /// Use it for work that a server has accepted but not finished. When no retries are left, or the task is cancelled,
  /// the last value is returned. See ``retry(limit:)`` for failures.
  ///
  /// ```swift
  /// let export = ExportQuery().retryOnValue(limit: 10) { $0 == .pending }
  /// ```
  ///
  /// - Parameters:
  ///   - limit: The number of retries after the first attempt. A negative number is reported and counts as 0.
  ///   - asksAgain: Receives the value of an attempt, and returns whether to run the operation again.
  /// - Returns: The operation with the retries around it: one run makes one or more attempts.
  public func retryOnValue(
    limit: Int,
    where asksAgain: @escaping @Sendable (Value) -> Bool
  ) -> ModifiedOperation<Self, Retry<Self>> {
    self.retryOnValue(limit: limit) { value, _ in asksAgain(value) }
  }

  /// Runs the operation again when it fails, or returns a value that asks for another attempt.
  ///
  /// See ``retryOnValue(limit:where:)-(_,(Self.Value)->Bool)``.
  ///
  /// - Parameters:
  ///   - limit: The number of retries after the first attempt. A negative number is reported and counts as 0.
  ///   - asksAgain: Receives the value of an attempt and its context, and returns whether to run the operation again.
  /// - Returns: The operation with the retries around it: one run makes one or more attempts.
  public func retryOnValue(
    limit: Int,
    where asksAgain: @escaping @Sendable (Value, OperationContext) -> Bool
  ) -> ModifiedOperation<Self, Retry<Self>> {
    self.modifier(Retry(limit: limit, asksAgain: asksAgain))
  }
}
