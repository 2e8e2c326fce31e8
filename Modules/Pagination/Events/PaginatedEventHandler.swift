public import OperationCore

/// Closures that receive the events in the store of a paginated operation, of its runs and of their pages.
///
/// They are called one at a time, in event order, and never with a lock held: a handler may do anything to the store.
///
/// All events of a run come in one order, whatever thread delivers them. A run begins with ``onFetchingStarted`` and
/// ends with ``onFetchingEnded``. Each page begins with ``onPageFetchingStarted`` and ends with ``onPageFetchingEnded``
/// between the two. For a value that a page yields or returns, the calls come in this order:
///
/// 1. ``onStateChanged`` with the state change that the value makes.
/// 2. ``onPageResultReceived``, and then ``onPageFetchingEnded`` when the page has returned.
/// 3. ``onResultReceived`` with the result of the run.
/// 4. ``onFetchingEnded`` when the run has ended.
///
/// So the result and the end of a page are delivered with the state change that they make, which comes when the run
/// ends. If the run goes on with another page or another attempt, they are delivered before that page's start.
public struct PaginatedEventHandler<State: PaginatedStateProtocol & Sendable>: Sendable {
  /// The result of one page.
  public typealias PageResult = Result<Page<State.PageID, State.PageValue>, State.Failure>

  /// The result of a run.
  public typealias RunResult = Result<PaginatedOperationValue<State.PageID, State.PageValue>, State.Failure>

  /// Called with the current state at first, and after each state change.
  public var onStateChanged: (@Sendable (State, OperationContext) -> Void)?

  /// Called when a run begins its work.
  public var onFetchingStarted: (@Sendable (OperationContext) -> Void)?

  /// Called when a run begins to fetch a page.
  public var onPageFetchingStarted: (@Sendable (State.PageID, OperationContext) -> Void)?

  /// Called with each result of a page that is yielded or returned.
  ///
  /// `operationResultUpdateReason` of the context says which. A page that was cancelled has no result.
  public var onPageResultReceived: (@Sendable (State.PageID, PageResult, OperationContext) -> Void)?

  /// Called with each result that a run yields or returns.
  ///
  /// `operationResultUpdateReason` of the context says which. A cancelled run has no result.
  public var onResultReceived: (@Sendable (RunResult, OperationContext) -> Void)?

  /// Called when the fetch of a page has ended: with a value, with an error, or by cancellation.
  public var onPageFetchingEnded: (@Sendable (State.PageID, OperationContext) -> Void)?

  /// Called when a run has ended: with a value, with an error, or by cancellation.
  public var onFetchingEnded: (@Sendable (OperationContext) -> Void)?

  /// Called when an attempt of a run has failed and another one follows, such as a retry.
  ///
  /// The attempt has the error and the date of the next one. The failure of the last attempt is the result of the run.
  public var onAttemptFailed: (@Sendable (OperationAttempt, OperationContext) -> Void)?

  /// Called once when the client no longer has the store, or when the store no longer exists.
  ///
  /// The store was removed with a call such as `clearStores(matching:)`, or its last reference was
  /// released. A run that only subscribers waited for has been cancelled, so that the last state is not loading.
  public var onStoreRemoved: (@Sendable (OperationContext) -> Void)?

  /// Creates a handler.
  public init(
    onStateChanged: (@Sendable (State, OperationContext) -> Void)? = nil,
    onFetchingStarted: (@Sendable (OperationContext) -> Void)? = nil,
    onPageFetchingStarted: (@Sendable (State.PageID, OperationContext) -> Void)? = nil,
    onPageResultReceived: (@Sendable (State.PageID, PageResult, OperationContext) -> Void)? = nil,
    onResultReceived: (@Sendable (RunResult, OperationContext) -> Void)? = nil,
    onPageFetchingEnded: (@Sendable (State.PageID, OperationContext) -> Void)? = nil,
    onFetchingEnded: (@Sendable (OperationContext) -> Void)? = nil,
    onAttemptFailed: (@Sendable (OperationAttempt, OperationContext) -> Void)? = nil,
    onStoreRemoved: (@Sendable (OperationContext) -> Void)? = nil
  ) {
    self.onStateChanged = onStateChanged
    self.onFetchingStarted = onFetchingStarted
    self.onPageFetchingStarted = onPageFetchingStarted
    self.onPageResultReceived = onPageResultReceived
    self.onResultReceived = onResultReceived
    self.onPageFetchingEnded = onPageFetchingEnded
    self.onFetchingEnded = onFetchingEnded
    self.onAttemptFailed = onAttemptFailed
    self.onStoreRemoved = onStoreRemoved
  }
}

extension PaginatedEventHandler {
  @usableFromInline
  var observesPages: Bool {
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
    if handler.observesPages {
      self.init(PageEventReader(handler))
    } else {
      self.init(
        onStateChanged: handler.onStateChanged,
        onRunStarted: handler.onFetchingStarted,
        onRunEnded: handler.onFetchingEnded,
        onResultReceived: handler.onResultReceived,
        onAttemptFailed: handler.onAttemptFailed,
        onStoreRemoved: handler.onStoreRemoved
      )
    }
  }
}
