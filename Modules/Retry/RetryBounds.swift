public import OperationCore

extension OperationRequest {
  /// Bounds the retries of the operation, together with those of all operations that share `budget`.
  ///
  /// Each run deposits into the budget, and each retry withdraws from it. If the budget does not allow the withdrawal,
  /// there is no retry, and the last error surfaces.
  ///
  /// - Parameter budget: A budget for all operations that use the same server.
  /// - Returns: The operation with the budget in its context.
  public func retryBudget(_ budget: RetryBudget) -> ContextModifiedOperation<Self> {
    self.context { $0.operationRetryBudget = budget }
  }

  /// Sets the longest delay that an error can ask for.
  ///
  /// An error decides the delay before the next attempt if it is ``/OperationCore/RetryHinting`` and has a hint. A hint
  /// above the cap counts as the cap, and a negative one as zero.
  ///
  /// - Parameter cap: The longest delay. A negative one is reported and counts as zero.
  /// - Returns: The operation with the cap in its context.
  public func honoringRetryAfter(cap: OperationDuration = .seconds(60)) -> ContextModifiedOperation<Self> {
    let cap = cap.reportedIfNegative(in: "honoringRetryAfter(cap:)")
    return self.context { $0.operationRetryAfterCap = cap }
  }
}

extension OperationContext {
  /// The budget that bounds retries; nil, which is the default, for none.
  public var operationRetryBudget: RetryBudget? {
    get { self[RetryBudgetKey.self] }
    set { self[RetryBudgetKey.self] = newValue }
  }

  /// The longest delay that an error can ask for. One minute by default.
  public var operationRetryAfterCap: OperationDuration {
    get { self.retryAfterCap }
    set { self.retryAfterCap = newValue }
  }

  private enum RetryBudgetKey: Key {
    static let defaultValue: RetryBudget? = nil
  }
}

extension OperationNotice.Name {
  /// A retry was not made because its budget does not allow it.
  public static let retryOverBudget = Self("retry.overBudget")

  /// A retry was not made because it could not begin before the deadline. The attribute `retry.delay` is its delay.
  public static let retryPastDeadline = Self("retry.pastDeadline")
}
