public import OperationCore

extension PaginatedRequest {
  /// This request with default pages.
  public typealias Default = DefaultStateOperation<Self>

  /// Shows `pages` while there are none.
  ///
  /// Default pages are only shown: the first page that is loaded is the initial one.
  @inlinable
  public func defaultValue(
    _ pages: @autoclosure @escaping @Sendable () -> Pages<PageID, PageValue>
  ) -> Default {
    DefaultStateOperation(self, base: { PaginatedState(for: self) }, defaultValue: pages)
  }
}
