internal import OperationCore
internal import Synchronization

/// Brings the events of a store and of the pages of its runs together, for one handler.
///
/// Both are told in one order, so that it has nothing to put in order: it finds the logs of the runs, and has them tell of what
/// comes before a result or an end.
final class PageEventReader<Handler: PaginatedStateProtocol & Sendable>: Sendable {
  typealias Run = PagingRun<Handler.PageID, Handler.PageValue, Handler.Failure>

  private struct State {
    /// The contexts of the runs whose logs are read. A log has none: it is in the context itself.
    var contexts: [OperationTaskIdentifier: OperationContext] = [:]
    var isCancelled = false
  }

  let handler: PaginatedEventHandler<Handler>
  /// Whether the handler hears of all runs of its stores, as opposed to a single one.
  private let hearsOfAllRuns: Bool
  private let state = Locked(State())

  init(_ handler: PaginatedEventHandler<Handler>, hearsOfAllRuns: Bool = true) {
    self.handler = handler
    self.hearsOfAllRuns = hearsOfAllRuns
  }

  /// No event is handed over from now on.
  func cancel() {
    let contexts = self.state.withLock { state in
      state.isCancelled = true
      defer { state.contexts = [:] }
      return state.contexts
    }
    for context in contexts.values { (context.pagingRun() as Run?)?.log.detach(ObjectIdentifier(self)) }
  }

  /// Reads the log of a run from now on, unless it is being read.
  private func follow(_ run: Run, in context: OperationContext) {
    let isNew = self.state.withLock { state in
      guard !state.isCancelled, state.contexts[run.taskID] == nil else { return false }
      state.contexts[run.taskID] = context
      return true
    }
    guard isNew else { return }
    let id = run.taskID
    // Who hears of one run hears of its pages from the beginning.
    run.log.attach(ObjectIdentifier(self), withHistory: !self.hearsOfAllRuns) { [weak self] entry in
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
  /// Hands over a state, and follows the runs that it shows to be under way.
  func receive(_ newState: Handler, in context: OperationContext) {
    if let run: Run = context.pagingRun() { self.follow(run, in: context) }
    self.handler.onStateChanged?(newState, context)
    guard self.hearsOfAllRuns else { return }
    for task in newState.paginatedState.activeTasks {
      if let run: Run = task.context.pagingRun() { self.follow(run, in: task.context) }
    }
  }

  /// Hands over the start of a run, and then what its pages have been told of before the handler came.
  func receiveStart(in context: OperationContext) {
    self.handler.onFetchingStarted?(context)
    if let run: Run = context.pagingRun() { self.follow(run, in: context) }
  }

  /// Hands over the result of a run, after those of its pages.
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

  /// Hands over the end of a run.
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
  /// The handler that a store calls for a reader.
  init(_ reader: PageEventReader<State>) {
    self.init(
      onStateChanged: { state, context in reader.receive(state, in: context) },
      onRunStarted: { context in reader.receiveStart(in: context) },
      onRunEnded: { context in reader.receiveEnd(in: context) },
      onResultReceived: { result, context in reader.receive(result, in: context) }
    )
  }
}
