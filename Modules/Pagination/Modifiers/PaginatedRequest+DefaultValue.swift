public import OperationCore

extension PaginatedRequest {
  /// This request with default pages.
  public typealias Default = DefaultStateOperation<Self>

  /// Shows default pages while the state has none.
  ///
  /// Default pages are not part of the state: the first page that is loaded is the initial one.
  @inlinable
  public func defaultValue(
    _ pages: @autoclosure @escaping @Sendable () -> Pages<PageID, PageValue>
  ) -> Default {
    DefaultStateOperation(self, base: { PaginatedState(for: self) }, defaultValue: pages)
  }
}
