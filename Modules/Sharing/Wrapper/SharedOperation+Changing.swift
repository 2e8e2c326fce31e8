public import OperationCore

extension SharedOperation {
  /// Whether the value should be fetched again; true without a store.
  public var isStale: Bool { self.store?.isStale ?? true }

  /// Sets the value or the error.
  ///
  /// - Parameters:
  ///   - result: The value or error to set.
  ///   - context: The context of the change, whose clock dates it; nil for the context of the store.
  public func setResult(
    to result: Result<State.StateValue, State.Failure>,
    using context: OperationContext? = nil
  ) {
    self.change {
      $0.setResult(to: result, using: context)
    } unbacked: {
      $0.update(with: result, using: context ?? OperationContext())
    }
  }

  /// Resets the state to the initial one and cancels all runs.
  ///
  /// - Parameter context: The context of the change; nil for the context of the store.
  public func resetState(using context: OperationContext? = nil) {
    self.change {
      $0.resetState(using: context)
    } unbacked: {
      _ = $0.reset(using: context ?? OperationContext())
    }
  }

  /// Runs `body` while no other thread can use the store, so that reads and writes in it are one atomic step.
  ///
  /// Reads of the wrapper in `body` show the state of the store, also on the main actor. Readers are notified of the
  /// changes when the outermost call ends.
  ///
  /// - Parameter body: Called once, on the current thread, with the store.
  /// - Returns: The result of `body`; nil if there is no store, and `body` was not called.
  /// - Throws: The error of `body`.
  @discardableResult
  public func withExclusiveAccess<R, E: Error>(
    _ body: (OperationStore<State>) throws(E) -> R
  ) throws(E) -> R? {
    guard let store = self.store else { return nil }
    defer { self.observed.followOwnChange() }
    return try store.withExclusiveAccess(body)
  }

  private func change(
    _ body: (OperationStore<State>) -> Void,
    unbacked: @Sendable (inout State) -> Void
  ) {
    guard let store = self.store else { return self.observed.changeUnbacked(unbacked) }
    body(store)
    self.observed.followOwnChange()
  }
}
