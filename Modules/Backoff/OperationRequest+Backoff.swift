public import OperationCore

extension OperationRequest {
  /// Waits as `function` says before the operation is tried again.
  ///
  /// It says how long, not whether: see `retry(limit:)` in `OperationRetry`.
  public func backoff(_ function: OperationBackoffFunction) -> ContextModifiedOperation<Self> {
    self.context { $0.operationBackoffFunction = function }
  }

  /// Lets `delayer` do the waiting of the operation.
  public func delayer(_ delayer: some OperationDelayer & Sendable) -> ContextModifiedOperation<Self> {
    self.context { $0.operationDelayer = delayer }
  }
}

extension OperationContext {
  /// How long to wait before an operation is tried again. By default exponentially longer, from a second on.
  public var operationBackoffFunction: OperationBackoffFunction {
    get { self[BackoffFunctionKey.self] }
    set { self[BackoffFunctionKey.self] = newValue }
  }

  /// What waits before an operation is tried again. By default the present task, on the process's queue of deadlines.
  public var operationDelayer: any OperationDelayer & Sendable {
    get { self[DelayerKey.self] }
    set { self[DelayerKey.self] = newValue }
  }

  private enum BackoffFunctionKey: Key {
    static let defaultValue = OperationBackoffFunction.exponential(.seconds(1))
  }

  private enum DelayerKey: Key {
    static let defaultValue: any OperationDelayer & Sendable = TaskSleepDelayer()
  }
}
