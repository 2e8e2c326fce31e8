#if SwiftOperationMacros
  /// Makes a property of `OperationContext` an entry of the context, without a key type of your own.
  ///
  /// ```swift
  /// extension OperationContext {
  ///   @ContextEntry var greeting = "hello"
  ///   @ContextEntry var session: Session?
  /// }
  /// ```
  ///
  /// The initial value is the value of a context that the entry was never written to. It is computed once in a process,
  /// and nil for an optional that has none. The type of an entry has to be `Sendable`.
  @attached(accessor, names: named(get), named(set))
  @attached(peer, names: prefixed(`$ContextKey_`))
  public macro ContextEntry() = #externalMacro(module: "OperationMacrosPlugin", type: "ContextEntryMacro")
#endif
