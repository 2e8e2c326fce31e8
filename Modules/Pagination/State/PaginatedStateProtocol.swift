public import OperationCore

/// A state whose operation is paginated: ``PaginatedState``, also under a default value.
public protocol PaginatedStateProtocol<PageID, PageValue>: OperationState
where OperationValue == PaginatedOperationValue<PageID, PageValue> {
  /// What identifies a page.
  associatedtype PageID: Hashable & Sendable

  /// What a page holds.
  associatedtype PageValue: Sendable

  /// The state that knows of nothing but what was loaded and set.
  var paginatedState: PaginatedState<PageID, PageValue, Failure> { get }
}

extension PaginatedState: PaginatedStateProtocol {
  /// This state.
  @inlinable
  public var paginatedState: PaginatedState<PageID, PageValue, PageFailure> { self }
}

extension DefaultOperationState: PaginatedStateProtocol where Base: PaginatedStateProtocol {
  /// What identifies a page.
  public typealias PageID = Base.PageID

  /// What a page holds.
  public typealias PageValue = Base.PageValue

  /// The state beneath.
  @inlinable
  public var paginatedState: PaginatedState<Base.PageID, Base.PageValue, Base.Failure> { self.base.paginatedState }
}

extension PaginatedState: DefaultableOperationState {
  /// The pages, or the default where there are none.
  @inlinable
  public func defaultValue(
    for value: Pages<PageID, PageValue>,
    using defaultValue: Pages<PageID, PageValue>
  ) -> Pages<PageID, PageValue> {
    value.isEmpty ? defaultValue : value
  }

  /// The pages that were set.
  @inlinable
  public func stateValue(for defaultValue: Pages<PageID, PageValue>) -> Pages<PageID, PageValue> { defaultValue }
}
