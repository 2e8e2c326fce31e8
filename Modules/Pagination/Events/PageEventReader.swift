internal import OperationCore
internal import Synchronization

/// Brings the events of a store and of the pages of its runs together, for one handler: one at a time, in order.
final class PageEventReader<Handler: PaginatedStateProtocol & Sendable>: Sendable {
  typealias Run = PagingRun<Handler.PageID, Handler.PageValue, Handler.Failure>

  private enum Delivery: Sendable {
    case storeEvent(@Sendable () -> Void)
    /// What the log of a run has that was not read yet.
    case pages(of: Run)
    case end(of: Run)
  }

  private struct Bookmark {
    let run: Run
    /// The context of the run. A log has none: it is in the context itself.
    let context: OperationContext
    var position: Int
  }

  private struct State {
    var deliveries: [Delivery] = []
    var isDelivering = false
    /// How far the logs of runs have been read.
    var bookmarks: [OperationTaskIdentifier: Bookmark] = [:]
    /// Whether runs may still tell what happens to their pages.
    var isOpen = true
    var isCancelled = false
  }

  let handler: PaginatedEventHandler<Handler>
  /// Whether the handler hears of all runs of its stores, as opposed to a single one.
  private let hearsOfAllRuns: Bool
  private let state = Mutex(State())

  init(_ handler: PaginatedEventHandler<Handler>, hearsOfAllRuns: Bool = true) {
    self.handler = handler
    self.hearsOfAllRuns = hearsOfAllRuns
  }
}

// MARK: - Coming and going

extension PageEventReader {
  /// No event is handed over from now on.
  func cancel() {
    self.close { $0.isCancelled = true }
  }

  /// Hears no more of pages but what comes before events of the store.
  func close() {
    self.close { _ in }
  }

  private func close(_ edit: (inout State) -> Void) {
    let runs = self.state.withLock { state in
      state.isOpen = false
      edit(&state)
      return state.bookmarks.values.map(\.run)
    }
    for run in runs { run.log.detach(ObjectIdentifier(self)) }
  }

  /// Reads the log of a run from `position` on, unless it is being read.
  private func follow(_ run: Run, from position: Int, in context: OperationContext) {
    let isNew = self.state.withLock { state in
      guard state.bookmarks[run.taskID] == nil else { return false }
      state.bookmarks[run.taskID] = Bookmark(run: run, context: context, position: position)
      return state.isOpen
    }
    guard isNew else { return }
    run.log.attach(ObjectIdentifier(self)) { [weak self, weak run] in
      if let run { self?.deliver(.pages(of: run)) }
    }
  }
}

// MARK: - Delivering

extension PageEventReader {
  /// Hands over an event of the store, after what happened to the pages of its run before.
  func receive(in context: OperationContext, _ event: @escaping @Sendable () -> Void) {
    if let run: Run = context.pagingRun() {
      self.follow(run, from: 0, in: context)
      self.deliver(.pages(of: run), .storeEvent(event))
    } else {
      self.deliver(.storeEvent(event))
    }
  }

  /// Hands over a state, and follows the runs that it shows to be under way.
  func receive(_ newState: Handler, in context: OperationContext) {
    self.receive(in: context) { self.handler.onStateChanged?(newState, context) }
    guard self.hearsOfAllRuns else { return }
    for task in newState.paginatedState.activeTasks {
      guard let run: Run = task.context.pagingRun() else { continue }
      // Of a run that was there before the handler came, only what is new is told.
      self.follow(run, from: run.log.count, in: task.context)
    }
  }

  /// Hands over the end of a run.
  func receiveEnd(in context: OperationContext) {
    self.receive(in: context) { self.handler.onFetchingEnded?(context) }
    if let run: Run = context.pagingRun() { self.deliver(.end(of: run)) }
  }

  private func deliver(_ deliveries: Delivery...) {
    let delivers = self.state.withLock { state in
      state.deliveries += deliveries
      defer { state.isDelivering = true }
      return !state.isDelivering
    }
    guard delivers else { return }
    while let action = self.nextAction() { action() }
  }

  private func nextAction() -> (() -> Void)? {
    while true {
      let next: Delivery? = self.state.withLock { state in
        if state.isCancelled { state.deliveries = [] }
        if let first = state.deliveries.first { return first }
        state.isDelivering = false
        return nil
      }
      switch next {
      case nil: return nil
      case .storeEvent(let event):
        self.removeFirstDelivery()
        return event
      case .pages(let run):
        if let (event, context) = self.nextEvent(of: run) { return { self.handler.receive(event, in: context) } }
        self.removeFirstDelivery()
      case .end(let run):
        self.removeFirstDelivery()
        run.log.detach(ObjectIdentifier(self))
        let bookmark = self.state.withLock { $0.bookmarks.removeValue(forKey: run.taskID) }
        _ = consume bookmark  // Released after the lock.
      }
    }
  }

  private func removeFirstDelivery() {
    let delivery = self.state.withLock { state in
      state.deliveries.isEmpty ? nil : state.deliveries.removeFirst()
    }
    _ = consume delivery  // Released after the lock.
  }

  private func nextEvent(of run: Run) -> (Run.Log.Event, OperationContext)? {
    guard let bookmark = self.state.withLock({ $0.bookmarks[run.taskID] }),
      let entry = run.log.entry(at: bookmark.position)
    else { return nil }
    self.state.withLock { $0.bookmarks[run.taskID]?.position += 1 }
    var context = bookmark.context
    context.operationResultUpdateReason = entry.reason
    return (entry.event, context)
  }
}

extension OperationEventHandler where State: PaginatedStateProtocol {
  /// The handler that a store calls for a reader.
  init(_ reader: PageEventReader<State>) {
    self.init(
      onStateChanged: { state, context in reader.receive(state, in: context) },
      onRunStarted: { context in reader.receive(in: context) { reader.handler.onFetchingStarted?(context) } },
      onRunEnded: { context in reader.receiveEnd(in: context) },
      onResultReceived: { result, context in
        reader.receive(in: context) { reader.handler.onResultReceived?(result, context) }
      }
    )
  }
}
