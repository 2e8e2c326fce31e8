#if SwiftOperationMacros
  /// Makes a mutation of a function: adds `$name`, a `MutationRequest` that calls `name`.
  ///
  /// ```swift
  /// @MutationRequest
  /// func rename(post id: Int, arguments: String) async throws -> Post {
  ///   try await server.rename(id, to: arguments)
  /// }
  ///
  /// try await client.store(for: $rename(post: 1)).mutate(with: "A title")
  /// ```
  ///
  /// The parameter `arguments` receives the arguments of each call; without it, calls have none. The other parameters
  /// belong to the mutation: `$name` takes them, as for a query, and they are part of the path. Parameters of the types
  /// `OperationContext`, `OperationContinuation` and `isolated (any Actor)?` receive the values of the run.
  ///
  /// - Parameter path: How the path is made; by default from the function and its own parameters.
  @attached(peer, names: prefixed(`$`))
  public macro MutationRequest(path: OperationPathRule = .inferred) =
    #externalMacro(module: "OperationMacrosPlugin", type: "MutationRequestMacro")
#endif
