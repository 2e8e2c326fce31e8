public import OperationCore

/// A state of a paginated operation: ``PaginatedState``, with or without a default value.
public protocol PaginatedStateProtocol<PageID, PageValue>: OperationState
where OperationValue == PaginatedOperationValue<PageID, PageValue> {
  /// The identifier of a page.
  associatedtype PageID: Hashable & Sendable

  /// The value of a page.
  associatedtype PageValue: Sendable

  /// The state without default pages.
  var paginatedState: PaginatedState<PageID, PageValue, Failure> { get }
}

extension PaginatedState: PaginatedStateProtocol {
  /// This state.
  public var paginatedState: PaginatedState<PageID, PageValue, PageFailure> { self }
}

extension DefaultOperationState: PaginatedStateProtocol where Base: PaginatedStateProtocol {
  /// The identifier of a page.
  public typealias PageID = Base.PageID

  /// The value of a page.
  public typealias PageValue = Base.PageValue

  /// The state without default pages.
  public var paginatedState: PaginatedState<Base.PageID, Base.PageValue, Base.Failure> { self.base.paginatedState }
}

extension PaginatedState: DefaultableOperationState {
  /// Returns the pages, or the default if there are none.
  public func defaultValue(
    for value: Pages<PageID, PageValue>,
    using defaultValue: Pages<PageID, PageValue>
  ) -> Pages<PageID, PageValue> {
    value.isEmpty ? defaultValue : value
  }

  /// Returns the pages that were set.
  public func stateValue(for defaultValue: Pages<PageID, PageValue>) -> Pages<PageID, PageValue> { defaultValue }

  /// Whether there are no pages.
  public func isMissing(_ value: Pages<PageID, PageValue>) -> Bool { value.isEmpty }
}
