/// A pending action of a context's deadlines, which is cancelled by hand: releasing it has no effect.
///
/// It costs one object where an ``OperationSubscription`` costs two.
@usableFromInline
package struct RunTimer: Sendable {
  private enum Kind: Sendable {
    /// Of ``DeadlineQueue/shared``.
    case deadline(Deadline)
    case subscription(OperationSubscription)
  }

  private let kind: Kind

  fileprivate init(_ deadline: Deadline) { self.kind = .deadline(deadline) }
  fileprivate init(_ subscription: OperationSubscription) { self.kind = .subscription(subscription) }

  /// Cancels the action, unless it has begun. Cancelling again has no effect.
  package func cancel() {
    switch self.kind {
    case .deadline(let deadline): DeadlineQueue.shared.cancel(deadline)
    case .subscription(let subscription): subscription.cancel()
    }
  }
}

extension OperationContext {
  /// Calls `action` once the elapsed time of the context's deadlines is `time`.
  ///
  /// With the usual source, the clock need not be read.
  ///
  /// - Parameters:
  ///   - time: The elapsed time.
  ///   - action: Called on a thread where it may take long, unless it is cancelled before.
  /// - Returns: The timer. It keeps the action until it is called or cancelled.
  package func timer(at time: Duration, _ action: @escaping @Sendable () -> Void) -> RunTimer {
    guard self.hasOwnDeadlines else {
      let instant = SystemDeadlineSource.start.advanced(by: time.clampedForClock)
      return RunTimer(DeadlineQueue.shared.schedule(at: instant, onWorker: true, action))
    }
    let deadlines = self.operationDeadlines
    return RunTimer(deadlines.schedule(after: time - deadlines.elapsed.clampedForClock, action))
  }
}
