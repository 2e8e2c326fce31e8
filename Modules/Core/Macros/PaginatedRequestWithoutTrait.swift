#if !SwiftOperationMacros
  // See `MacrosWithoutTrait.swift`. As in `OperationMacros`, the pages next to a page are key paths or anything else.

  /// Creates a paginated request from a function.
  ///
  /// Requires the trait `SwiftOperationMacros`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationMacros: .package(url: …, from: …, traits: [\"SwiftOperationMacros\"])"
  )
  @attached(peer, names: prefixed(`$`))
  public macro PaginatedRequest(
    path: OperationPathRule = .inferred,
    initialPageId: Any? = nil,
    next: PartialKeyPath<FunctionPageValue>? = nil,
    previous: PartialKeyPath<FunctionPageValue>? = nil
  ) = #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

  /// Creates a paginated request from a function, with a closure or a function for the next page.
  ///
  /// Requires the trait `SwiftOperationMacros`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationMacros: .package(url: …, from: …, traits: [\"SwiftOperationMacros\"])"
  )
  @attached(peer, names: prefixed(`$`))
  public macro PaginatedRequest(
    path: OperationPathRule = .inferred,
    initialPageId: Any? = nil,
    next: Any,
    previous: PartialKeyPath<FunctionPageValue>? = nil
  ) = #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

  /// Creates a paginated request from a function, with a closure or a function for the previous page.
  ///
  /// Requires the trait `SwiftOperationMacros`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationMacros: .package(url: …, from: …, traits: [\"SwiftOperationMacros\"])"
  )
  @attached(peer, names: prefixed(`$`))
  public macro PaginatedRequest(
    path: OperationPathRule = .inferred,
    initialPageId: Any? = nil,
    next: PartialKeyPath<FunctionPageValue>? = nil,
    previous: Any
  ) = #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

  /// Creates a paginated request from a function, with closures or functions for both pages.
  ///
  /// Requires the trait `SwiftOperationMacros`.
  @available(
    *,
    unavailable,
    message: "switch on the trait SwiftOperationMacros: .package(url: …, from: …, traits: [\"SwiftOperationMacros\"])"
  )
  @attached(peer, names: prefixed(`$`))
  public macro PaginatedRequest(
    path: OperationPathRule = .inferred,
    initialPageId: Any? = nil,
    next: Any,
    previous: Any
  ) = #externalMacro(module: "ObservationMacros", type: "ObservationTrackedMacro")

  /// The value of a page in a key path of `@PaginatedRequest`.
  ///
  /// Requires the trait `SwiftOperationMacros`.
  @dynamicMemberLookup
  public struct FunctionPageValue {
    private init() {}

    /// Any property.
    public subscript(dynamicMember name: String) -> FunctionPageValue { self }

    /// Any property that is optional.
    @_disfavoredOverload
    public subscript(dynamicMember name: String) -> FunctionPageValue? { self }

    /// Any subscript.
    public subscript<Index>(index: Index) -> FunctionPageValue { self }

    /// Any subscript whose value is optional.
    @_disfavoredOverload
    public subscript<Index>(index: Index) -> FunctionPageValue? { self }
  }
#endif
