/// A pending deadline of a ``DeadlineQueue``.
final class Deadline: DeadlineHeapElement, @unchecked Sendable {
  // Unchecked because the mutable fields below are accessed only under the lock of the queue that created the deadline.
  let instant: ContinuousClock.Instant
  /// Whether the action is called by ``WorkerQueues``, where it delays no other deadline.
  let callsOnWorker: Bool
  /// Nil once the action was taken, to be called or to be released by a cancellation.
  var action: Action?
  var position: Int?

  init(instant: ContinuousClock.Instant, callsOnWorker: Bool, action: @escaping @Sendable () -> Void) {
    self.instant = instant
    self.callsOnWorker = callsOnWorker
    self.action = Action(call: action)
  }

  /// What a deadline calls.
  // A type of its own: a closure that a lock returns as a generic result is wrapped in another, which is an allocation.
  struct Action: Sendable {
    let call: @Sendable () -> Void
  }

  func isEarlier(than other: Deadline) -> Bool {
    self.instant < other.instant
  }
}
