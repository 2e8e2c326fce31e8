public import OperationCore

extension ModifiedOperation: PaginatedRequest
where
  Operation: PaginatedRequest,
  Modifier.Value == Operation.Value, Modifier.Failure == Operation.Failure
{
  public typealias PageID = Operation.PageID
  public typealias PageValue = Operation.PageValue
  public typealias PageFailure = Operation.PageFailure

  public var initialPageId: Operation.PageID { self.operation.initialPageId }

  public func pageId(
    after page: Page<Operation.PageID, Operation.PageValue>,
    using paging: Paging<Operation.PageID, Operation.PageValue>,
    in context: OperationContext
  ) -> Operation.PageID? {
    self.operation.pageId(after: page, using: paging, in: context)
  }

  public func pageId(
    before page: Page<Operation.PageID, Operation.PageValue>,
    using paging: Paging<Operation.PageID, Operation.PageValue>,
    in context: OperationContext
  ) -> Operation.PageID? {
    self.operation.pageId(before: page, using: paging, in: context)
  }

  /// Fetches one page as the operation inside does. The modifier stands around whole runs.
  public func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Operation.PageID, Operation.PageValue>,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.PageValue, Operation.PageFailure>
  ) async throws(Operation.PageFailure) -> Operation.PageValue {
    try await self.operation.fetchPage(isolation: isolation, using: paging, in: context, with: continuation)
  }
}
