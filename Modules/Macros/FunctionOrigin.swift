#if SwiftOperationMacros
  /// Stands for a function that a macro made an operation of: numbers that no other function has, as a type.
  ///
  /// So operations of two functions have two types, and a client can report that both claim one path.
  public enum FunctionOrigin<let high: Int, let low: Int> {}
#endif
