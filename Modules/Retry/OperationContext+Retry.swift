public import OperationCore

extension OperationContext {
  /// The maximum number of retries after the first attempt. The default is 0.
  ///
  /// ``OperationCore/OperationRequest/retry(limit:)`` writes it, and reads it when an attempt has failed. An operation
  /// that sets it to 0 in its setup is not retried, and neither is a run whose context contains 0. A negative number is
  /// reported and counts as 0.
  public var operationMaxRetries: Int {
    get { self.retryConfiguration.currentLimit }
    set {
      self.retryConfiguration.limit = newValue.validRetryLimit
      self.retryConfiguration.isSetByHand = true
    }
  }

  /// The index of the current retry: nil in the first attempt, 0 in the first retry.
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

  /// Whether this is the last attempt: the last retry, or the first attempt if the limit is 0.
  public var isLastRunAttempt: Bool {
    self.operationMaxRetries == 0 || self.isLastRetryAttempt
  }
}

extension Int {
  /// The number as a limit of retries. A negative number is reported and counts as 0.
  var validRetryLimit: Int {
    guard self < 0 else { return self }
    OperationWarning(
      code: .invalidArgument,
      message: "A retry was given the limit \(self), which counts as 0. Pass 0 for an operation that is not retried."
    ).report()
    return 0
  }
}
