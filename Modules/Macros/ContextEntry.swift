#if SwiftOperationMacros
  /// Makes a property of `OperationContext` a context entry, without a key type.
  ///
  /// ```swift
  /// extension OperationContext {
  ///   @ContextEntry var greeting = "hello"
  ///   @ContextEntry var session: Session?
  /// }
  /// ```
  ///
  /// The initial value is the value in a context where the entry was never set. It is computed once per process, and is
  /// nil for an optional without an initial value. The type of the entry must be `Sendable`.
  @attached(accessor, names: named(get), named(set))
  @attached(peer, names: prefixed(`$ContextKey_`))
  public macro ContextEntry() = #externalMacro(module: "OperationMacrosPlugin", type: "ContextEntryMacro")
#endif
