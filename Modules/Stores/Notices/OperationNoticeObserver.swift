/// Receives the notices of runs, for metrics, logs and traces.
///
/// Add it to ``OperationContext/operationNoticeObservers``, or use ``OperationRequest/onNotice(_:)``.
public protocol OperationNoticeObserver: AnyObject, Sendable {
  /// Called in the task that sends the notice, while no lock is held. The run waits until it returns.
  ///
  /// - Parameters:
  ///   - notice: The notice.
  ///   - context: The context of the run.
  func receive(_ notice: OperationNotice, in context: OperationContext)
}

extension OperationContext {
  /// The observers of notices, in the order in which they are called. There are none by default.
  ///
  /// Observers in the context of a call are added to its store's observers.
  public var operationNoticeObservers: [any OperationNoticeObserver] {
    get { self[NoticeObserversKey.self] }
    set { self[NoticeObserversKey.self] = newValue }
  }

  /// Sends a notice to the observers of the context, and to the readers of the client's events. Without observers and
  /// readers the notice is not made.
  ///
  /// - Parameter notice: Evaluated at most once. Send it while no lock is held, because observers run their own code.
  public func send(_ notice: @autoclosure () -> OperationNotice) {
    if self.isObserved || self.noticesAreWatched { self.deliver(notice()) }
  }

  /// Whether the context has observers of notices.
  var isObserved: Bool { self.isSet(NoticeObserversKey.self) }

  func deliver(_ notice: OperationNotice) {
    if self.noticesAreWatched { self.report(notice) }
    self.notifyObservers(of: notice)
  }

  /// Sends a notice to the observers of the context alone.
  func notifyObservers(of notice: OperationNotice) {
    for observer in self.operationNoticeObservers { observer.receive(notice, in: self) }
  }

  /// Adds the observers of `other` in front of its own, unless the context has them.
  mutating func addNoticeObservers(of other: OperationContext) {
    let own = self.operationNoticeObservers
    let others = other.operationNoticeObservers.filter { observer in !own.contains { $0 === observer } }
    if !others.isEmpty { self.operationNoticeObservers = others + own }
  }

  /// Adds an observer and removes the observers that it replaces, so that each notice is received once.
  ///
  /// - Parameters:
  ///   - observer: The observer.
  ///   - isReplaced: Returns true for the observers to remove; also for `observer` itself.
  package mutating func observeNotices(
    with observer: any OperationNoticeObserver,
    insteadOf isReplaced: (any OperationNoticeObserver) -> Bool
  ) {
    let observers = self.operationNoticeObservers
    // A write would copy storage that other contexts share, so it is avoided.
    let isAlone = observers.contains { $0 === observer } && observers.count(where: isReplaced) == 1
    if isAlone { return }
    self.operationNoticeObservers = observers.filter { !isReplaced($0) } + [observer]
  }

  enum NoticeObserversKey: Key {
    static let defaultValue: [any OperationNoticeObserver] = []
  }
}

extension OperationRequest {
  /// Calls `receive` for the notices of the operation's runs, in addition to the other observers.
  ///
  /// - Parameter receive: Called in the task that sends the notice, while no lock is held.
  /// - Returns: The operation with the observer in its context.
  public func onNotice(
    _ receive: @escaping @Sendable (OperationNotice, OperationContext) -> Void
  ) -> ContextModifiedOperation<Self> {
    let observer = ClosureNoticeObserver(onNotice: receive)
    return self.modifier(ContextModifier(.modifier) { $0.operationNoticeObservers.append(observer) })
      .written(".onNotice { … }")
  }
}

private final class ClosureNoticeObserver: OperationNoticeObserver {
  private let onNotice: @Sendable (OperationNotice, OperationContext) -> Void

  init(onNotice: @escaping @Sendable (OperationNotice, OperationContext) -> Void) {
    self.onNotice = onNotice
  }

  func receive(_ notice: OperationNotice, in context: OperationContext) {
    self.onNotice(notice, context)
  }
}
