public import OperationCore

extension OperationContext {
  /// How often the operation is run again after its first attempt, at most. 0 without a retry.
  ///
  /// ``OperationCore/OperationRequest/retry(limit:)`` writes it, and reads it when an attempt has failed: an operation that
  /// sets it to 0 in its setup is not retried, and neither is a run whose context says 0. A negative number is reported and
  /// counts as 0.
  public var operationMaxRetries: Int {
    get { self.retryConfiguration.limit }
    set {
      self.retryConfiguration.limit = newValue.validRetryLimit
      self.retryConfiguration.isSetByHand = true
    }
  }

  /// Which retry this is: nil in the first attempt, 0 in the first retry.
  public var operationRetryIndex: Int? {
    get { self.retryConfiguration.index }
    set { self.retryConfiguration.index = newValue }
  }

  /// Whether this is the first attempt.
  public var isFirstRunAttempt: Bool { self.operationRetryIndex == nil }

  /// Whether this is the first retry.
  public var isFirstRetryAttempt: Bool { self.operationRetryIndex == 0 }

  /// Whether this is the last retry that the limit allows.
  public var isLastRetryAttempt: Bool {
    guard let index = self.operationRetryIndex else { return false }
    return index >= self.operationMaxRetries - 1
  }

  /// Whether no further attempt is allowed: this is the last retry, or the first attempt where there are no retries.
  public var isLastRunAttempt: Bool {
    self.operationMaxRetries == 0 || self.isLastRetryAttempt
  }
}

extension Int {
  /// The number as a limit of retries; a negative one is reported.
  var validRetryLimit: Int {
    guard self < 0 else { return self }
    OperationWarning(
      code: .invalidArgument,
      message: "A limit of \(self) retries has no meaning and counts as 0. Pass 0 for an operation that is not retried."
    ).report()
    return 0
  }
}
