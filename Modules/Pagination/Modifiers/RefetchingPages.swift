public import OperationCore

extension PaginatedRequest {
  /// Sets whether a refetch of all pages is one run of the operation's modifiers.
  ///
  /// By default each page is one: a timeout limits a page, a limit takes a permit for each page, a breaker counts
  /// pages, and a retry tries each page as often as its limit says. A deadline bounds all of them together. Outside a
  /// store, a refetch is always one run.
  ///
  /// - Parameter isOneRun: Pass false for the default.
  /// - Returns: The operation with the setting in its context.
  public func refetchesPagesInOneRun(_ isOneRun: Bool = true) -> ContextModifiedOperation<Self> {
    self.context { $0.operationRefetchesPagesInOneRun = isOneRun }.written(".refetchesPagesInOneRun(\(isOneRun))")
  }
}

extension OperationContext {
  /// Whether a refetch of all pages is one run of the operation's modifiers. The default is false: each page is one.
  public var operationRefetchesPagesInOneRun: Bool {
    get { self[RefetchesPagesInOneRunKey.self] }
    set { self[RefetchesPagesInOneRunKey.self] = newValue }
  }

  private enum RefetchesPagesInOneRunKey: Key {
    static let defaultValue = false
  }
}
