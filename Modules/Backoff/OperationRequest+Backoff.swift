public import OperationCore

extension OperationRequest {
  /// Sets the delays between attempts of the operation.
  ///
  /// The function sets how long to wait, not whether to try again: see `retry(limit:)` in `OperationRetry`.
  public func backoff(_ function: OperationBackoffFunction) -> ContextModifiedOperation<Self> {
    self.context { $0.operationBackoffFunction = function }.written(".backoff(\(function))")
  }

  /// Sets the delayer that waits between attempts of the operation.
  public func delayer(_ delayer: some OperationDelayer & Sendable) -> ContextModifiedOperation<Self> {
    self.context { $0.operationDelayer = delayer }.written(".delayer(\(type(of: delayer)))")
  }
}

extension OperationContext {
  /// How long to wait before the next attempt. The default is exponential, beginning with one second.
  public var operationBackoffFunction: OperationBackoffFunction {
    get { self[BackoffFunctionKey.self] }
    set { self[BackoffFunctionKey.self] = newValue }
  }

  /// Waits before the next attempt. By default the current task waits on the deadline queue of the process.
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
