public import OperationCore

// MARK: - Timeouts

extension OperationRequest where Self: Sendable, Value: Sendable, Failure == any Error {
  /// Ends a run that takes longer than `limit` with ``OperationTimedOut``, except while it blocks its caller's thread.
  ///
  /// A run begins on the thread of its caller, so before a body first suspends it holds that thread, and the caller gets
  /// no error. An executor preference moves the body to threads of its own: see the article of the module.
  ///
  /// The caller gets the error on time, even if the operation ignores its cancellation: the operation is cancelled and
  /// goes on in the background, and what it yields from then on is dropped. A run that ends in time leaves no timer.
  /// A caller that is cancelled leaves at once with a `CancellationError`. The retry that a client applies by default
  /// stands inside of the innermost timeout, so the time is for all its attempts.
  ///
  /// - Parameter limit: The time that a run has, by ``/OperationCore/OperationContext/operationDeadlines``. With zero,
  ///   the operation is not begun. A negative duration is reported and counts as zero.
  /// - Returns: The operation with the timeout around it.
  public func timeout(_ limit: Duration) -> ModifiedOperation<Self, Timeout<Self>> {
    self.modifier(Timeout(.duration(limit.reportedIfNegative(in: "timeout(_:)")), failure: { $0 }))
  }
}

extension OperationRequest where Self: Sendable, Value: Sendable {
  /// Ends a run that takes longer than `limit` with the error that `failure` returns.
  ///
  /// Like ``timeout(_:)``, for operations with a failure type of their own. If that type cannot represent a
  /// `CancellationError`, a caller that is cancelled waits until the operation ends, however long that takes.
  ///
  /// - Parameters:
  ///   - limit: The time that a run has, by ``/OperationCore/OperationContext/operationDeadlines``. With zero, the
  ///     operation is not begun. A negative duration is reported and counts as zero.
  ///   - failure: Returns the error that the caller gets.
  /// - Returns: The operation with the timeout around it.
  public func timeout(
    _ limit: Duration,
    else failure: @escaping @Sendable (OperationTimedOut) -> Failure
  ) -> ModifiedOperation<Self, Timeout<Self>> {
    self.modifier(Timeout(.duration(limit.reportedIfNegative(in: "timeout(_:)")), failure: failure))
  }
}

// MARK: - Deadlines

extension OperationRequest where Self: Sendable, Value: Sendable, Failure == any Error {
  /// Ends runs that have not ended at `deadline` with ``OperationTimedOut``, except while they block their caller's thread.
  ///
  /// Unlike ``timeout(_:)``, it bounds the whole run, wherever it is written. All modifiers, inside and outside, and the
  /// operation can read it from ``/OperationCore/OperationContext/operationDeadline``: a retry does not sleep past it,
  /// and gives up when the next attempt could not begin before it; a pause ends with it. Where deadlines are nested, or
  /// the context of the run has one already, the earlier one applies. A run that would begin after the deadline is not
  /// begun. A fallback outside replaces the error, and is not bounded by it.
  ///
  /// - Parameter deadline: An instant of `ContinuousClock`, or, where time is injected, one of
  ///   ``/OperationCore/DeadlineSource/instant``.
  /// - Returns: The operation with the deadline in the contexts of its runs.
  public func deadline(_ deadline: ContinuousClock.Instant) -> ModifiedOperation<Self, Timeout<Self>> {
    self.modifier(Timeout(.deadline(FixedDeadline(deadline)), failure: { $0 }))
  }

  /// Ends runs that have not ended at the deadline of their context, such as one that a caller has sent.
  ///
  /// For services: `OperationContext.readCallHeaderFields(_:)` takes the deadline of a request, and this modifier keeps
  /// it. A run whose deadline has passed on arrival is rejected before its body, with an ``OperationTimedOut`` that is a
  /// ``/OperationCore/LocalRejection``: its caller has gone. A run without a deadline has no limit, at no cost.
  ///
  /// - Returns: The operation, whose runs end at the deadlines of their contexts.
  public func deadline() -> ModifiedOperation<Self, Timeout<Self>> {
    self.modifier(Timeout(.ofContext, failure: { $0 }))
  }

  /// Gives the operation a deadline, and ends it then with ``OperationTimedOut``, except while it blocks its caller's thread.
  ///
  /// Each run has a deadline of its own, `limit` after its start, which its attempts share: see ``deadline(_:)``.
  ///
  /// - Parameter limit: The time that a run has. A negative duration is reported and counts as zero.
  /// - Returns: The operation with the deadline in the contexts of its runs.
  public func deadline(after limit: Duration) -> ModifiedOperation<Self, Timeout<Self>> {
    self.modifier(Timeout(.deadlineAfter(limit.reportedIfNegative(in: "deadline(after:)")), failure: { $0 }))
  }
}

extension OperationRequest where Self: Sendable, Value: Sendable {
  /// Ends runs that have not ended at `deadline` with the error that `failure` returns.
  ///
  /// Like ``deadline(_:)``, for operations with a failure type of their own. If that type cannot represent a
  /// `CancellationError`, a caller that is cancelled waits until the operation ends, however long that takes.
  ///
  /// - Parameters:
  ///   - deadline: An instant of `ContinuousClock`, or, where time is injected, one of
  ///     ``/OperationCore/DeadlineSource/instant``.
  ///   - failure: Returns the error that the caller gets.
  /// - Returns: The operation with the deadline in the contexts of its runs.
  public func deadline(
    _ deadline: ContinuousClock.Instant,
    else failure: @escaping @Sendable (OperationTimedOut) -> Failure
  ) -> ModifiedOperation<Self, Timeout<Self>> {
    self.modifier(Timeout(.deadline(FixedDeadline(deadline)), failure: failure))
  }

  /// Ends runs that take longer than `limit` with the error that `failure` returns, and gives the operation a deadline.
  ///
  /// - Parameters:
  ///   - limit: The time that a run has: see ``deadline(after:)``.
  ///   - failure: Returns the error that the caller gets.
  /// - Returns: The operation with the deadline in the contexts of its runs.
  public func deadline(
    after limit: Duration,
    else failure: @escaping @Sendable (OperationTimedOut) -> Failure
  ) -> ModifiedOperation<Self, Timeout<Self>> {
    self.modifier(Timeout(.deadlineAfter(limit.reportedIfNegative(in: "deadline(after:)")), failure: failure))
  }

  /// Ends runs that have not ended at the deadline of their context with the error that `failure` returns.
  ///
  /// Like ``deadline()``, for operations with a failure type of their own. If that type cannot represent a
  /// `CancellationError`, a caller that is cancelled waits until the operation ends, however long that takes.
  ///
  /// - Parameter failure: Returns the error that the caller gets.
  /// - Returns: The operation, whose runs end at the deadlines of their contexts.
  public func deadline(
    else failure: @escaping @Sendable (OperationTimedOut) -> Failure
  ) -> ModifiedOperation<Self, Timeout<Self>> {
    self.modifier(Timeout(.ofContext, failure: failure))
  }
}
