#if SwiftOperationMacros
  /// Makes a mutation of a function: beside `name` there is `$name`, a `MutationRequest` that calls it.
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
  /// The parameter `arguments` takes what a call brings; without one, calls bring nothing. Other parameters belong to the
  /// mutation: `$name` takes them, as it does for a query, and they are part of its path. Parameters of the types
  /// `OperationContext`, `OperationContinuation` and `isolated (any Actor)?` get what the run brings.
  ///
  /// - Parameter path: How the mutation gets its path; the function and its own parameters by default.
  @attached(peer, names: prefixed(`$`))
  public macro MutationRequest(path: OperationPathRule = .inferred) =
    #externalMacro(module: "OperationMacrosPlugin", type: "MutationRequestMacro")
#endif
