public import OperationCore

extension ModifiedOperation: PaginatedRequest
where
  Operation: PaginatedRequest,
  Modifier.Value == Operation.Value, Modifier.Failure == Operation.Failure
{
  /// What identifies a page.
  public typealias PageID = Operation.PageID

  /// What a page holds.
  public typealias PageValue = Operation.PageValue

  /// What fetching a page can throw.
  public typealias PageFailure = Operation.PageFailure

  /// The identifier of the page that is loaded when there is none.
  @inlinable
  public var initialPageId: Operation.PageID { self.operation.initialPageId }

  /// The identifier of the page that comes after another, as the operation inside says.
  @inlinable
  public func pageId(
    after page: Page<Operation.PageID, Operation.PageValue>,
    using paging: Paging<Operation.PageID, Operation.PageValue>,
    in context: OperationContext
  ) -> Operation.PageID? {
    self.operation.pageId(after: page, using: paging, in: context)
  }

  /// The identifier of the page that comes before another, as the operation inside says.
  @inlinable
  public func pageId(
    before page: Page<Operation.PageID, Operation.PageValue>,
    using paging: Paging<Operation.PageID, Operation.PageValue>,
    in context: OperationContext
  ) -> Operation.PageID? {
    self.operation.pageId(before: page, using: paging, in: context)
  }

  /// Fetches one page as the operation inside does. The modifier stands around whole runs.
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
