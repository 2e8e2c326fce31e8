#if SwiftOperationMacros
  /// The value of a page in a key path of `@PaginatedRequest`, which the compiler reads before it knows the value's type.
  ///
  /// It has every property and every subscript. The generated code has the same key path with the type of the value, so
  /// the compiler reports there what that type does not have.
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
