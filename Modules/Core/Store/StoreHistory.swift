internal import OperationFoundation
internal import Synchronization

/// The last runs and notices of a store, for explanations.
///
/// A store has one while somebody reads the events of its client, or after it was asked for an explanation.
final class StoreHistory: Sendable {
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
    /// The newest notice is the last.
    var runs: [Run] = []
    var notices: [Notice] = []
  }

  private static let maximumRuns = 8
  private static let maximumNotices = 4

  /// The name of the operation. It is kept because finding it takes a look-up.
  let operationName: String
  /// Waits until the value becomes stale.
  let staleness = StalenessWatch()
  private let lockedContent = Locked(Content())
  private let isAskedFor = Atomic(false)

  init(operationName: String) {
    self.operationName = operationName
  }

  deinit {
    if self.isAskedFor.load(ordering: .relaxed) { EventReaders.remove() }
  }

  var content: Content { self.lockedContent.withLock { $0 } }

  /// Whether the store was asked for an explanation, so that the history stays without readers.
  var wasAskedFor: Bool { self.isAskedFor.load(ordering: .relaxed) }

  func wasAsked() {
    if !self.isAskedFor.exchange(true, ordering: .relaxed) { EventReaders.add() }
  }

  func note(_ event: OperationEvent) {
    switch event.what {
    case .runEnded(let end):
      guard let id = event.run, let cause = event.cause else { return }
      self.lockedContent.withLock { content, released in
        if content.runs.count == Self.maximumRuns { released.append(content.runs.removeFirst()) }
        content.runs.append(Run(id: id, cause: cause, end: end, date: event.date))
      }
    case .notice(let notice) where notice.level == nil:
      self.lockedContent.withLock { content, released in
        if content.notices.count == Self.maximumNotices { released.append(content.notices.removeFirst()) }
        content.notices.append(Notice(notice: notice, date: event.date))
      }
    default: break
    }
  }
}
