public import OperationCore

// Without these declarations the compiler asks for nested types, and not for the function.

extension SimplePaginatedRequest where PageFailure == Never {
  /// Says which function a paginated request has, where its own has another signature.
  @available(
    *,
    unavailable,
    message: "write func fetchPage(using paging: Paging<…, …>, in context: OperationContext) async throws -> …"
  )
  nonisolated(nonsending) public func fetchPage(
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext
  ) async throws(Never) -> PageValue {
    preconditionFailure("Unavailable.")
  }
}

extension PaginatedRequest where PageFailure == Never {
  /// Says which function a paginated request has, where its own has another signature.
  @available(
    *,
    unavailable,
    message: """
      conform to SimplePaginatedRequest, which has fetchPage(using:in:), or write fetchPage(isolation:using:in:with:)
      """
  )
  public func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext,
    with continuation: OperationContinuation<PageValue, Never>
  ) async throws(Never) -> PageValue {
    preconditionFailure("Unavailable.")
  }
}

extension PaginatedRequest {
  /// Says which function names the next page, where a request's own has another signature.
  @available(
    *,
    unavailable,
    message: "write func pageId(after page: Page<…, …>, using paging: Paging<…, …>, in context: OperationContext) -> …?"
  )
  public func pageId(
    after page: Page<PageID, PageValue>,
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext
  ) -> PageID? {
    preconditionFailure("Unavailable.")
  }
}
