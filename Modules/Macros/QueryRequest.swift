#if SwiftOperationMacros
  /// Makes a query of a function: adds `$name`, a `QueryRequest` that calls `name`.
  ///
  /// ```swift
  /// extension Post {
  ///   @QueryRequest
  ///   static func query(for id: Int) async throws -> Post {
  ///     try await server.post(id)
  ///   }
  /// }
  ///
  /// let store = client.store(for: Post.$query(for: 1).stale(after: .seconds(30)))
  /// ```
  ///
  /// `$name` is a property if the function has no arguments. Otherwise it is a function with the same labels, default
  /// values, generic parameters, access and availability. Parameters of the types `OperationContext`,
  /// `OperationContinuation` and `isolated (any Actor)?` do not count as arguments: they receive the values of the run.
  ///
  /// - Parameter path: How the path is made; by default from the function and its arguments.
  @attached(peer, names: prefixed(`$`))
  public macro QueryRequest(path: OperationPathRule = .inferred) =
    #externalMacro(module: "OperationMacrosPlugin", type: "QueryRequestMacro")
#endif
