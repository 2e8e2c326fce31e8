#if SwiftOperationMacros
  /// Makes a query of a function: beside `name` there is `$name`, a `QueryRequest` that calls it.
  ///
  /// ```swift
  /// extension Post {
  ///   @QueryRequest
  ///   static func query(for id: Int) async throws -> Post? {
  ///     try await server.post(id)
  ///   }
  /// }
  ///
  /// let store = client.store(for: Post.$query(for: 1).stale(after: .seconds(30)))
  /// ```
  ///
  /// `$name` is a property where the function has no arguments, and otherwise a function with the same labels, defaults,
  /// generic parameters, access and availability. Parameters of the types `OperationContext`, `OperationContinuation` and
  /// `isolated (any Actor)?` are no arguments: they get what the run brings.
  ///
  /// - Parameter path: How the query gets its path; the function and its arguments by default.
  @attached(peer, names: prefixed(`$`))
  public macro QueryRequest(path: OperationPathRule = .inferred) =
    #externalMacro(module: "OperationMacrosPlugin", type: "QueryRequestMacro")
#endif
