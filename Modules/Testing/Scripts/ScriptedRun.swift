public import OperationCore
public import Testing

/// One run of a scripted operation, which suspends until the test ends it.
public final class ScriptedRun<Value: Sendable, Failure: Error>: Sendable {
  private struct State: Sendable {
    var outcome: Result<Value, Failure>?
    var isCancelled = false
    var context: OperationContext
    var continuation: OperationContinuation<Value, Failure>?
  }

  /// The number of the run in its script; the first is 1.
  public let number: Int

  private let state: AwaitableState<State>

  init(number: Int, context: OperationContext, continuation: OperationContinuation<Value, Failure>) {
    self.number = number
    self.state = AwaitableState(State(context: context, continuation: continuation))
  }

  /// The context of the run; an empty one if the run ended before the test received it.
  public var context: OperationContext { self.state.current.context }

  func forgetContext() {
    // Returned so that they are released after unlocking.
    _ = self.state.change { state in
      defer { (state.context, state.continuation) = (OperationContext(), nil) }
      return (state.context, state.continuation)
    }
  }
}

extension ScriptedRun {
  /// Yields a value without ending the run.
  public func yield(_ value: Value, using context: OperationContext? = nil) {
    self.yield(with: .success(value), using: context)
  }

  /// Yields an error without ending the run.
  public func yield(error: Failure, using context: OperationContext? = nil) {
    self.yield(with: .failure(error), using: context)
  }

  /// Yields a result without ending the run.
  public func yield(with result: Result<Value, Failure>, using context: OperationContext? = nil) {
    self.state.current.continuation?.yield(with: result, using: context)
  }

  /// Ends the run with a value.
  ///
  /// Does nothing if the run has ended.
  public func succeed(_ value: Value) {
    self.finish(with: .success(value))
  }

  /// Ends the run with an error.
  ///
  /// Does nothing if the run has ended.
  public func fail(_ error: Failure) {
    self.finish(with: .failure(error))
  }

  /// Ends the run with a result.
  ///
  /// Does nothing if the run has ended.
  public func finish(with outcome: Result<Value, Failure>) {
    self.state.change { state in
      if state.outcome == nil { state.outcome = outcome }
    }
  }
}

extension ScriptedRun where Value == Void {
  /// Ends the run successfully.
  ///
  /// Does nothing if the run has ended.
  public func succeed() {
    self.succeed(())
  }
}

extension ScriptedRun {
  /// Whether the task of the run has been cancelled.
  public var isCancelled: Bool { self.state.current.isCancelled }

  /// Whether the run has a result: it has ended or is about to.
  public var isFinished: Bool { self.state.current.outcome != nil }

  /// Waits until the task of the run is cancelled.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  /// - Throws: ``WaitTimedOut``, which is also an issue of the test, or `CancellationError` when the waiting task is
  ///   cancelled.
  public func cancelled(
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await recordingTimeOut(at: sourceLocation) {
      try await self.cancellation(within: limit ?? WaitLimit.current)
    }
  }

  /// Waits until the task of the run is cancelled, but records no issue when the time limit is exceeded.
  func cancellation(within limit: Duration) async throws {
    try await self.state.wait(.cancellable(limit)) { [number] state in
      "run \(number) of a scripted operation to be cancelled; it \(state.outcome == nil ? "goes on" : "has ended")"
    } until: { state in
      state.isCancelled ? () : nil
    }
  }

  /// Waits for the result of the run. Called by the run itself.
  func outcome(endsOnCancellation: Bool) async -> Result<Value, Failure> {
    await withTaskCancellationHandler {
      await self.state.wait { $0.outcome }
    } onCancel: {
      self.state.change { state in
        state.isCancelled = true
        guard endsOnCancellation, state.outcome == nil, let error = CancellationError() as? Failure else { return }
        state.outcome = .failure(error)
      }
    }
  }
}
