#if SwiftOperationMacros
  public import OperationCore

  /// Runs an operation without state, on the caller's actor.
  ///
  /// ```swift
  /// let value = try await #run($operation)
  /// ```
  ///
  /// Write `try` if the operation can fail, and `await`. The error has the type that the operation declares.
  ///
  /// - Parameters:
  ///   - operation: The operation, with its modifiers.
  ///   - context: The configuration and dependencies of the run; empty by default.
  ///   - continuation: Receives the results that the operation yields; by default they are dropped.
  @discardableResult
  @freestanding(expression)
  public macro run<Operation: OperationRequest>(
    _ operation: Operation,
    context: OperationContext = OperationContext(),
    continuation: OperationContinuation<Operation.Value, Operation.Failure> = OperationContinuation { _, _ in }
  ) -> Operation.Value = #externalMacro(module: "OperationMacrosPlugin", type: "RunMacro")
#endif
