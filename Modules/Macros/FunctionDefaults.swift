#if SwiftOperationMacros
  /// The last parameter of a `$name` whose default values belong to the actor of the function.
  ///
  /// The macro makes two functions with that name: one that can be called anywhere, and needs the arguments whose default values may
  /// belong to the actor, and one that belongs to the actor and has all default values. This parameter tells them apart.
  public struct FunctionDefaults: Sendable {
    /// Creates the argument, which is never written.
    public init() {}
  }
#endif
