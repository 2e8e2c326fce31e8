public import OperationCore

extension StatefulOperationRequest {
  /// Gives callers the last value if their run fails, or takes longer than they wait. The run goes on to the state.
  ///
  /// - Parameter patience: How long a caller waits for its run.
  /// - Returns: The operation with these answers.
  public func servingLastValue(after patience: Duration) -> ContextModifiedOperation<Self> {
    // Appended before the setup of the operation inside, whose interceptors are then inside of this one.
    self.context { $0.callInterceptors.append(LastValue(patience: patience)) }
  }
}

/// Answers calls with the value of the state; `.servingLastValue(after:)` adds it.
public final class LastValue: StoreCallInterceptor {
  private let patience: Duration

  /// Creates an interceptor.
  ///
  /// - Parameter patience: How long a caller waits for its run.
  public init(patience: Duration) {
    self.patience = patience
  }

  public nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer {
    guard case .run = call.demand else { return await call.proceed() }
    let answer = await call.proceed(within: self.patience)
    if let answer, answer.outcome.error == nil || answer.outcome.isCancellation { return answer }
    return if let last = call.answerWithState() { last } else { await call.proceed() }
  }
}
