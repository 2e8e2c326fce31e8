internal import OperationCore
internal import OperationFoundation

/// The last runs and notices of a store, for explanations. The first explanation of a store adds it as an observer.
final class StoreHistory: StoreObserver {
  /// A run that has ended.
  struct Run: Sendable {
    let id: OperationTaskIdentifier
    let cause: OperationRunCause
    let end: OperationEvent.RunEnd
    let date: Date
  }

  /// A notice that a modifier has sent.
  struct Notice: Sendable {
    let notice: OperationNotice
    let date: Date
  }

  struct Content: Sendable {
    /// The newest run is the last.
    var runs: [Run] = []
    var notices: [Notice] = []
  }

  private static let maximumRuns = 8
  private static let maximumNotices = 4

  private let lockedContent = Locked(Content())

  var content: Content { self.lockedContent.withLock { $0 } }

  var observedEvents: StoreEvent.Kinds { [.runs, .waits, .notices] }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    switch event.what {
    case .runEnded(let end):
      guard let id = event.run, let cause = event.context.operationRunCause else { return }
      let run = Run(id: id, cause: cause, end: OperationEvent.RunEnd(end), date: event.context.date)
      self.lockedContent.withLock { content, released in
        if content.runs.count == Self.maximumRuns { released.append(content.runs.removeFirst()) }
        content.runs.append(run)
      }
    case .notice(let notice) where notice.level == nil && notice.name != .runPaused && notice.name != .runResumed:
      let notice = Notice(notice: notice, date: event.context.date)
      self.lockedContent.withLock { content, released in
        if content.notices.count == Self.maximumNotices { released.append(content.notices.removeFirst()) }
        content.notices.append(notice)
      }
    default: break
    }
  }
}

extension OpaqueOperationStore {
  /// What the store remembers since its first explanation.
  var history: StoreHistory.Content {
    self.reference.observer(orAdd: { StoreHistory() })?.content ?? StoreHistory.Content()
  }
}
