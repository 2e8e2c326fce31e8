public import OperationCore

extension OperationRequest {
  /// Bounds the retries of all operations that share `budget`, this one included.
  ///
  /// Each run deposits into the budget, and each retry withdraws from it when it begins. A retry that the budget does not
  /// allow waits for it, at most as long again as its delay. One that the budget would not allow by then is left out, and
  /// the run goes on to the delay of the next; after the last one the error surfaces. Attempts that a breaker or limit
  /// inside of the retry rejects count as neither: they have not reached the server.
  ///
  /// - Parameter budget: A budget for all operations that use the same server.
  /// - Returns: The operation with the budget in its context.
  public func retryBudget(_ budget: RetryBudget) -> ContextModifiedOperation<Self> {
    self.context { $0.operationRetryBudget = budget }.written(".retryBudget(_:)")
  }

  /// Sets the longest delay that an error can ask for, and how the delays of many clients spread.
  ///
  /// An error decides the delay before the next attempt if it is ``/OperationCore/RetryHinting`` and has a hint. A hint
  /// above the cap counts as the cap, and a negative one as zero. The jitter makes the delay longer, never shorter than
  /// the hint or longer than the cap. Where the context has a deadline, it adds at most half of the time that is left
  /// after the hint. The hint of a ``/OperationCore/LocalRejection``, such as an open circuit breaker's, is spread like
  /// one of a server, unless the jitter is one of ``RetryAfterJitter/spreadingOnlyServers()``.
  ///
  /// - Parameters:
  ///   - cap: The longest delay. A negative one is reported and counts as zero.
  ///   - jitter: How much longer than the hint a delay may be: a tenth by default.
  /// - Returns: The operation with the cap and the jitter in its context.
  public func honoringRetryAfter(
    cap: OperationDuration = .seconds(60),
    jitter: RetryAfterJitter = .proportional(0.1)
  ) -> ContextModifiedOperation<Self> {
    let cap = cap.reportedIfNegative(in: "honoringRetryAfter(cap:)")
    return self.context {
      $0.operationRetryAfterCap = cap
      $0.operationRetryAfterJitter = jitter
    }
    .written(".honoringRetryAfter(cap: \(cap.roundedText))")
  }
}

extension OperationContext {
  /// The budget that bounds retries; nil, which is the default, for none.
  public var operationRetryBudget: RetryBudget? {
    get { self[RetryBudgetKey.self] }
    set { self[RetryBudgetKey.self] = newValue }
  }

  /// The longest delay that an error can ask for. One minute by default. A negative one is reported and counts as zero.
  public var operationRetryAfterCap: OperationDuration {
    get { self.retryAfterCap }
    set { self.retryAfterCap = newValue.reportedIfNegative(in: "operationRetryAfterCap") }
  }

  /// How much longer a delay may be than an error asks for. A tenth by default.
  public var operationRetryAfterJitter: RetryAfterJitter {
    get { self[RetryAfterJitterKey.self] }
    set { self[RetryAfterJitterKey.self] = newValue }
  }

  private enum RetryBudgetKey: Key {
    static let defaultValue: RetryBudget? = nil
  }

  private enum RetryAfterJitterKey: Key {
    static let defaultValue = RetryAfterJitter.proportional(0.1)
  }
}

extension OperationNotice.Name {
  /// A retry was left out because its budget does not allow it. The attribute `budget.name` is the name of the budget.
  public static let retryOverBudget = Self("retry.over_budget")

  /// A retry was not made because it could not begin before the deadline. The attribute `retry.delay` is its delay.
  public static let retryPastDeadline = Self("retry.past_deadline")
}
