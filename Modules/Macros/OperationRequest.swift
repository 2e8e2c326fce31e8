#if SwiftOperationMacros
  /// Makes an operation without state of a function: beside `name` there is `$name`, an `OperationRequest` that calls it.
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
  /// `$name` is a property where the function has no arguments, and otherwise a function with the same labels, defaults,
  /// generic parameters, access and availability. Parameters of the types `OperationContext`, `OperationContinuation` and
  /// `isolated (any Actor)?` are no arguments: they get what the run brings.
  @attached(peer, names: prefixed(`$`))
  public macro OperationRequest() = #externalMacro(module: "OperationMacrosPlugin", type: "OperationRequestMacro")
#endif
