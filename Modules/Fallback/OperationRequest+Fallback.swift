public import OperationCore

extension OperationRequest where Value: Sendable {
  /// Returns `value` when the operation fails.
  ///
  /// A cancelled run does not fall back: its error is thrown. Events of a store whose result is a fallback have
  /// ``OperationCore/OperationContext/isFallback`` in their contexts.
  ///
  /// - Parameters:
  ///   - value: The value to return in place of an error.
  ///   - use: What the value may be used for, besides being shown and returned.
  /// - Returns: The operation, whose runs fail only when they are cancelled.
  @inlinable
  public func fallback(_ value: Value, use: FallbackUse = .shown) -> ModifiedOperation<Self, Fallback<Self>> {
    self.modifier(Fallback(substitute: .value({ value }), use: use))
  }
}

extension OperationRequest {
  /// Returns the value of `substitute` when the operation fails.
  ///
  /// A cancelled run does not fall back: its error is thrown. Events of a store whose result is a fallback have
  /// ``OperationCore/OperationContext/isFallback`` in their contexts.
  ///
  /// - Parameters:
  ///   - use: What the value may be used for, besides being shown and returned.
  ///   - substitute: Receives the error and the context of the run. The run fails with the error that it throws, which
  ///     may be the one that it receives.
  /// - Returns: The operation, whose runs fail only when they are cancelled or `substitute` throws.
  // Disfavored, so that the compiler does not try both overloads with each literal in a chain of modifiers.
  @_disfavoredOverload
  @inlinable
  public func fallback(
    use: FallbackUse = .shown,
    _ substitute: @escaping @Sendable (Failure, OperationContext) async throws(Failure) -> Value
  ) -> ModifiedOperation<Self, Fallback<Self>> {
    self.modifier(Fallback(substitute: .closure(substitute), use: use))
  }

  /// Runs another operation when this one fails, and returns its value.
  ///
  /// The other operation runs with its own modifiers, in the context of this run, and its yields are yields of this
  /// run. It does not use its own store or path. Its error is thrown if it fails, too. A cancelled run does not fall
  /// back: its error is thrown. Events of a store whose result is a fallback have
  /// ``OperationCore/OperationContext/isFallback`` in their contexts.
  ///
  /// - Parameters:
  ///   - other: The operation to run in place of this one.
  ///   - use: What its value may be used for, besides being shown and returned.
  /// - Returns: The operation, whose runs fail only when they are cancelled or both operations fail.
  public func fallback<Other: OperationRequest & Sendable>(
    to other: Other,
    use: FallbackUse = .shown
  ) -> ModifiedOperation<Self, Fallback<Self>>
  where Other.Value == Value, Other.Failure == Failure, Value: Sendable {
    let substitute: Fallback<Self>.OperationSubstitute = { isolation, context, continuation throws(Failure) in
      let runner = OperationRunner(operation: other, initialContext: context)
      return try await runner.run(isolation: isolation, with: continuation)
    }
    return self.modifier(Fallback(substitute: .operation(substitute), use: use))
  }
}
