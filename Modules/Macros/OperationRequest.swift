#if SwiftOperationMacros
  /// Makes an operation without state of a function: adds `$name`, an `OperationRequest` that calls `name`.
  ///
  /// ```swift
  /// @OperationRequest
  /// func upload(_ file: File, context: OperationContext) async throws -> Receipt {
  ///   try await context.server.upload(file)
  /// }
  ///
  /// let receipt = try await #run($upload(file).retry(limit: 3))
  /// ```
  ///
  /// `$name` is a property if the function has no arguments. Otherwise it is a function with the same labels, default
  /// values, generic parameters, access and availability. Parameters of the types `OperationContext`,
  /// `OperationContinuation` and `isolated (any Actor)?` do not count as arguments: they receive the values of the run.
  @attached(peer, names: prefixed(`$`))
  public macro OperationRequest() = #externalMacro(module: "OperationMacrosPlugin", type: "OperationRequestMacro")
#endif
