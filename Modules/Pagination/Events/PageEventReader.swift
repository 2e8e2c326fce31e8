internal import OperationCore
internal import Synchronization

/// Passes the events of a store, and of the pages that its runs load, to one handler.
///
/// Store and logs deliver their events in one order, so the reader does not sort them. It attaches itself to the logs
/// of the runs, and makes a log deliver its entries before the result and the end of its run.
final class PageEventReader<Handler: PaginatedStateProtocol & Sendable>: Sendable {
  typealias Run = PagingRun<Handler.PageID, Handler.PageValue, Handler.Failure>

  private struct State {
    /// The contexts of the runs whose logs are read. A log does not store the context, which retains the log.
    var contexts: [OperationTaskIdentifier: OperationContext] = [:]
    var isCancelled = false
  }

  let handler: PaginatedEventHandler<Handler>
  /// Whether the handler receives the events of all runs of its stores. False when it belongs to a single run.
  private let observesAllRuns: Bool
  private let state = Locked(State())

  init(_ handler: PaginatedEventHandler<Handler>, observesAllRuns: Bool = true) {
    self.handler = handler
    self.observesAllRuns = observesAllRuns
  }

  /// Passes no event to the handler from now on.
  func cancel() {
    let contexts = self.state.withLock { state in
      state.isCancelled = true
      defer { state.contexts = [:] }
      return state.contexts
    }
    for context in contexts.values { (context.pagingRun() as Run?)?.log.detach(ObjectIdentifier(self)) }
  }

  /// Reads the log of a run from now on. Does nothing when the log is read already.
  private func follow(_ run: Run, in context: OperationContext) {
    let isNew = self.state.withLock { state in
      guard !state.isCancelled, state.contexts[run.taskID] == nil else { return false }
      state.contexts[run.taskID] = context
      return true
    }
    guard isNew else { return }
    let id = run.taskID
    // The handler of a single run receives all page events of that run, also those before this call.
    run.log.attach(ObjectIdentifier(self), withHistory: !self.observesAllRuns) { [weak self] entry in
      self?.receive(entry, of: id)
    }
  }

  private func receive(_ entry: Run.Log.Entry, of id: OperationTaskIdentifier) {
    guard var context = self.state.withLock({ $0.contexts[id] }) else { return }
    context.operationResultUpdateReason = entry.reason
    self.handler.receive(entry.event, in: context)
  }
}

// MARK: - The events of the store

extension PageEventReader {
  /// Passes a state to the handler, and follows the runs that are active in it.
  func receive(_ newState: Handler, in context: OperationContext) {
    if let run: Run = context.pagingRun() { self.follow(run, in: context) }
    self.handler.onStateChanged?(newState, context)
    guard self.observesAllRuns else { return }
    for task in newState.paginatedState.activeTasks {
      if let run: Run = task.context.pagingRun() { self.follow(run, in: task.context) }
    }
  }

  /// Passes the start of a run to the handler, and then the earlier page events of the run if it asks for them.
  func receiveStart(in context: OperationContext) {
    self.handler.onFetchingStarted?(context)
    if let run: Run = context.pagingRun() { self.follow(run, in: context) }
  }

  /// Passes the result of a run to the handler, after the results of its pages.
  func receive(
    _ result: Result<Handler.OperationValue, Handler.Failure>,
    in context: OperationContext
  ) {
    if let run: Run = context.pagingRun() {
      self.follow(run, in: context)
      run.log.deliverDue(afterEnd: context.operationResultUpdateReason == .returnedFinalResult)
    }
    self.handler.onResultReceived?(result, context)
  }

  /// Passes a failed attempt to the handler, after the events of the pages that it has fetched.
  func receive(_ attempt: OperationAttempt, in context: OperationContext) {
    if let run: Run = context.pagingRun() {
      self.follow(run, in: context)
      run.log.deliverBeforeNextStart()
    }
    self.handler.onAttemptFailed?(attempt, context)
  }

  /// Passes the end of a run to the handler, after all page events of the run.
  func receiveEnd(in context: OperationContext) {
    guard let run: Run = context.pagingRun() else {
      self.handler.onFetchingEnded?(context)
      return
    }
    self.follow(run, in: context)
    run.log.deliverDue(afterEnd: true)
    self.handler.onFetchingEnded?(context)
    run.log.detach(ObjectIdentifier(self))
    self.state.withLock { state, released in
      released.append(state.contexts.removeValue(forKey: run.taskID))
    }
  }
}

extension OperationEventHandler where State: PaginatedStateProtocol {
  /// Creates the handler that passes a store's events to a reader.
  init(_ reader: PageEventReader<State>) {
    self.init(
      onStateChanged: { state, context in reader.receive(state, in: context) },
      onRunStarted: { context in reader.receiveStart(in: context) },
      onRunEnded: { context in reader.receiveEnd(in: context) },
      onResultReceived: { result, context in reader.receive(result, in: context) },
      onAttemptFailed: { attempt, context in reader.receive(attempt, in: context) },
      onStoreRemoved: reader.handler.onStoreRemoved
    )
  }
}
