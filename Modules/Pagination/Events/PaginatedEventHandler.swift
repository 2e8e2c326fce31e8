public import OperationCore

/// Closures that hear of what happens in the store of a paginated operation, run by run and page by page.
///
/// They are called one at a time, in event order, and never while a lock is held: a handler may do anything to the store.
///
/// All events of a run come in one order, whatever thread delivers them. A run begins with ``onFetchingStarted`` and ends with
/// ``onFetchingEnded``, and each page with ``onPageFetchingStarted`` and ``onPageFetchingEnded`` between them. What a page
/// yields or returns is told as state, then page, then result, then ended: ``onStateChanged`` with the change that it makes,
/// ``onPageResultReceived``, with ``onPageFetchingEnded`` behind it when the page has returned, ``onResultReceived``, and
/// ``onFetchingEnded``. So the result and the end of a page wait for the change that they make, which comes when the run ends,
/// or for the next page or attempt of the run, if it goes on.
public struct PaginatedEventHandler<State: PaginatedStateProtocol & Sendable>: Sendable {
  /// The result of one page.
  public typealias PageResult = Result<Page<State.PageID, State.PageValue>, State.Failure>

  /// The result of a run.
  public typealias RunResult = Result<PaginatedOperationValue<State.PageID, State.PageValue>, State.Failure>

  /// Called with the state now and after each change of it.
  public var onStateChanged: (@Sendable (State, OperationContext) -> Void)?

  /// Called when a run begins its work.
  public var onFetchingStarted: (@Sendable (OperationContext) -> Void)?

  /// Called when a run begins to fetch a page.
  public var onPageFetchingStarted: (@Sendable (State.PageID, OperationContext) -> Void)?

  /// Called with each result of a page that is yielded or returned.
  ///
  /// `operationResultUpdateReason` of the context tells which. A page that was cancelled has no result.
  public var onPageResultReceived: (@Sendable (State.PageID, PageResult, OperationContext) -> Void)?

  /// Called with each result that a run yields or returns.
  ///
  /// `operationResultUpdateReason` of the context tells which. A cancelled run has no result.
  public var onResultReceived: (@Sendable (RunResult, OperationContext) -> Void)?

  /// Called when a page is no longer being fetched, however that ended.
  public var onPageFetchingEnded: (@Sendable (State.PageID, OperationContext) -> Void)?

  /// Called when a run has ended, however it ended.
  public var onFetchingEnded: (@Sendable (OperationContext) -> Void)?

  /// Creates a handler.
  public init(
    onStateChanged: (@Sendable (State, OperationContext) -> Void)? = nil,
    onFetchingStarted: (@Sendable (OperationContext) -> Void)? = nil,
    onPageFetchingStarted: (@Sendable (State.PageID, OperationContext) -> Void)? = nil,
    onPageResultReceived: (@Sendable (State.PageID, PageResult, OperationContext) -> Void)? = nil,
    onResultReceived: (@Sendable (RunResult, OperationContext) -> Void)? = nil,
    onPageFetchingEnded: (@Sendable (State.PageID, OperationContext) -> Void)? = nil,
    onFetchingEnded: (@Sendable (OperationContext) -> Void)? = nil
  ) {
    self.onStateChanged = onStateChanged
    self.onFetchingStarted = onFetchingStarted
    self.onPageFetchingStarted = onPageFetchingStarted
    self.onPageResultReceived = onPageResultReceived
    self.onResultReceived = onResultReceived
    self.onPageFetchingEnded = onPageFetchingEnded
    self.onFetchingEnded = onFetchingEnded
  }
}

extension PaginatedEventHandler {
  @inlinable
  var hearsOfPages: Bool {
    self.onPageFetchingStarted != nil || self.onPageResultReceived != nil || self.onPageFetchingEnded != nil
  }

  func receive(_ event: PageEvent<State.PageID, State.PageValue, State.Failure>, in context: OperationContext) {
    switch event {
    case .started(let id): self.onPageFetchingStarted?(id, context)
    case .result(let id, let result): self.onPageResultReceived?(id, result, context)
    case .ended(let id): self.onPageFetchingEnded?(id, context)
    }
  }
}

extension OperationEventHandler where State: PaginatedStateProtocol {
  @usableFromInline
  init(_ handler: PaginatedEventHandler<State>) {
    if handler.hearsOfPages {
      self.init(PageEventReader(handler))
    } else {
      self.init(
        onStateChanged: handler.onStateChanged,
        onRunStarted: handler.onFetchingStarted,
        onRunEnded: handler.onFetchingEnded,
        onResultReceived: handler.onResultReceived
      )
    }
  }
}
