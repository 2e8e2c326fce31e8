public import OperationCore

extension PaginatedRequest {
  /// Keeps at most `count` pages: when one more is loaded at one end, one is dropped at the other.
  ///
  /// Dropped pages can be loaded again. Pages that are set are not dropped until others are loaded.
  ///
  /// The pages have no gaps: if the neighbour of a page is dropped while the page is loaded, the call returns the page,
  /// but the state does not add it. It can be loaded again like the dropped one.
  ///
  /// - Parameter count: The maximum. A value below 1 is reported, and sets no maximum.
  /// - Returns: The operation with the maximum in its context.
  public func maximumPages(_ count: Int) -> ContextModifiedOperation<Self> {
    if count < 1 {
      OperationWarning(
        code: .invalidArgument,
        message: """
          `maximumPages(\(count))` on \(Self.unmodifiedType) leaves room for no page, so no maximum is set. Pass 1 or more.
          """
      ).report()
    }
    return self.context { $0.operationMaximumPages = count < 1 ? nil : count }.written(".maximumPages(\(count))")
  }
}

extension OperationContext {
  /// The maximum number of pages that a paginated operation keeps. Nil, the default, means no maximum.
  @inlinable
  public var operationMaximumPages: Int? {
    get { self[MaximumPagesKey.self] }
    set { self[MaximumPagesKey.self] = newValue }
  }

  @usableFromInline
  enum MaximumPagesKey: Key {
    @usableFromInline static let defaultValue: Int? = nil
  }
}
