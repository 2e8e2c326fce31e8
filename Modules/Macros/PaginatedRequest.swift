#if SwiftOperationMacros
  /// Makes a paginated request of a function that loads a page: adds `$name`, a `PaginatedRequest` that calls `name`.
  ///
  /// ```swift
  /// @PaginatedRequest(initialPageId: nil, next: \.nextCursor)
  /// func feed(of user: User.ID, page: String?) async throws -> Feed {
  ///   try await server.feed(of: user, cursor: page)
  /// }
  ///
  /// let page = try await client.store(for: $feed(of: 1)).fetchNextPage()
  /// ```
  ///
  /// The parameter with the label or the name `page`, `pageId` or `pageID` receives the identifier of the page that a
  /// run loads; a parameter of the type `Paging` receives the present pages and the request, too. A function has one
  /// of them or both. The other parameters belong to the request: `$name` takes them, as for a query, and they are part
  /// of the path. Parameters of the types `OperationContext`, `OperationContinuation` and `isolated (any Actor)?`
  /// receive the values of the run.
  ///
  /// `next` and `previous` are written in one of these ways:
  ///
  /// - `\.nextCursor`, a key path from the value of a page;
  /// - `{ (page: Page<Int, Feed>) in page.id + 1 }`, a closure. Its parameters receive, by their types, the `Page`, its
  ///   `Paging`, the `OperationContext` and the instance that the function is a member of, and, by their names,
  ///   arguments of the function;
  /// - `Self.nextPage`, the name of a function that takes the page, or the page and its `Paging`, or these and the
  ///   context;
  /// - `nil`, if there never is such a page.
  ///
  /// They are called on any thread, so they must not belong to an actor. Nil means that the page is the last one, also
  /// where the identifier of a page is an optional itself.
  ///
  /// - Parameters:
  ///   - path: How the path is made; by default from the function and its own parameters.
  ///   - initialPageId: The identifier of the page that is loaded first, or a closure that computes it from arguments of
  ///     the function, which its parameters name. By default, the default value of the parameter `page`.
  ///   - next: Where the identifier of the page after a page comes from. Required.
  ///   - previous: Where the identifier of the page before a page comes from; by default there is none.
  @attached(peer, names: prefixed(`$`))
  public macro PaginatedRequest(
    path: OperationPathRule = .inferred,
    initialPageId: Any? = nil,
    next: PartialKeyPath<FunctionPageValue>? = nil,
    previous: PartialKeyPath<FunctionPageValue>? = nil
  ) = #externalMacro(module: "OperationMacrosPlugin", type: "PaginatedRequestMacro")

  // The compiler checks an attribute before it knows the types of the function, so the other forms of `next` and
  // `previous` are parameters of any type; the generated code gives them their types.

  /// The same, with a closure or the name of a function for the next page.
  @_documentation(visibility: internal)
  @attached(peer, names: prefixed(`$`))
  public macro PaginatedRequest(
    path: OperationPathRule = .inferred,
    initialPageId: Any? = nil,
    next: Any,
    previous: PartialKeyPath<FunctionPageValue>? = nil
  ) = #externalMacro(module: "OperationMacrosPlugin", type: "PaginatedRequestMacro")

  /// The same, with a closure or the name of a function for the previous page.
  @_documentation(visibility: internal)
  @attached(peer, names: prefixed(`$`))
  public macro PaginatedRequest(
    path: OperationPathRule = .inferred,
    initialPageId: Any? = nil,
    next: PartialKeyPath<FunctionPageValue>? = nil,
    previous: Any
  ) = #externalMacro(module: "OperationMacrosPlugin", type: "PaginatedRequestMacro")

  /// The same, with closures or the names of functions for both pages.
  @_documentation(visibility: internal)
  @attached(peer, names: prefixed(`$`))
  public macro PaginatedRequest(
    path: OperationPathRule = .inferred,
    initialPageId: Any? = nil,
    next: Any,
    previous: Any
  ) = #externalMacro(module: "OperationMacrosPlugin", type: "PaginatedRequestMacro")
#endif
