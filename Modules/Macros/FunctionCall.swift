#if SwiftOperationMacros
  /// A wrapper that generated code puts around the call of a function that is not `async`.
  public enum FunctionCall {
    /// Passes the result of a call on.
    ///
    /// The function is `async`, so the generated code can write `await` without a warning, whether the wrapped call
    /// needs it, as the call of an actor's function does, or not.
    ///
    /// - Parameters:
    ///   - isolation: The actor of the caller.
    ///   - call: The call.
    /// - Returns: The result of the call, unchanged.
    public static func result<Value>(
      isolation: isolated (any Actor)? = #isolation,
      of call: Value
    ) async -> Value {
      call
    }
  }
#endif
