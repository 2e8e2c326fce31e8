public import OperationCore

extension ModifiedOperation: PaginatedRequest
where
  Operation: PaginatedRequest,
  Modifier.Value == Operation.Value, Modifier.Failure == Operation.Failure
{
  /// The identifier of a page.
  public typealias PageID = Operation.PageID

  /// The value of a page.
  public typealias PageValue = Operation.PageValue

  /// The error that the fetch of a page can throw.
  public typealias PageFailure = Operation.PageFailure

  /// The identifier of the page that is loaded when there are no pages.
  @inlinable
  public var initialPageId: Operation.PageID { self.operation.initialPageId }

  /// Returns the identifier that the modified operation returns for the page after another.
  @inlinable
  public func pageId(
    after page: Page<Operation.PageID, Operation.PageValue>,
    using paging: Paging<Operation.PageID, Operation.PageValue>,
    in context: OperationContext
  ) -> Operation.PageID? {
    self.operation.pageId(after: page, using: paging, in: context)
  }

  /// Returns the identifier that the modified operation returns for the page before another.
  @inlinable
  public func pageId(
    before page: Page<Operation.PageID, Operation.PageValue>,
    using paging: Paging<Operation.PageID, Operation.PageValue>,
    in context: OperationContext
  ) -> Operation.PageID? {
    self.operation.pageId(before: page, using: paging, in: context)
  }

  /// Fetches one page with the modified operation, without the modifier.
  @inlinable
  public func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Operation.PageID, Operation.PageValue>,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.PageValue, Operation.PageFailure>
  ) async throws(Operation.PageFailure) -> Operation.PageValue {
    try await self.operation.fetchPage(isolation: isolation, using: paging, in: context, with: continuation)
  }
}
