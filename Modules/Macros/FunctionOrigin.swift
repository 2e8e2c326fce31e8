#if SwiftOperationMacros
  /// A type that identifies a function with a macro, by numbers that are unique to the function.
  ///
  /// So the operations of two functions have different types, and a client can report that both use the same path.
  public enum FunctionOrigin<let high: Int, let low: Int> {}
#endif
