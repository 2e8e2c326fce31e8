public import OperationCore

extension PaginatedRequest {
  /// Keeps at most `count` pages: where one more is loaded at one end, one is dropped from the other.
  ///
  /// Pages that were dropped can be loaded again. Pages that are set are not dropped until others are loaded.
  ///
  /// The pages have no gaps: when a page comes and the one next to it has been dropped for a page at the other end, the call
  /// returns the page, and the state does not take it in. It can be loaded again like the one that was dropped.
  ///
  /// - Parameter count: How many; less than one is reported, and sets no maximum.
  public func maximumPages(_ count: Int) -> ContextModifiedOperation<Self> {
    if count < 1 {
      OperationWarning(
        code: .invalidArgument,
        message: """
          A maximum of \(count) pages was asked for \(Self.unmodifiedType), which leaves room for none. It has no maximum \
          then. Allow one page or more.
          """
      ).report()
    }
    return self.context { $0.operationMaximumPages = count < 1 ? nil : count }
  }
}

extension OperationContext {
  /// How many pages a paginated operation keeps at most; nil, the default, for all.
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
