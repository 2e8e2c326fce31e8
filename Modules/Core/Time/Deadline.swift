/// A pending deadline of a ``DeadlineQueue``.
package final class Deadline: DeadlineHeapElement, @unchecked Sendable {
  // Unchecked because the mutable fields below are accessed only under the lock of the queue that created the deadline.
  let instant: ContinuousClock.Instant
  var action: (@Sendable () -> Void)?
  package var position: Int?

  init(instant: ContinuousClock.Instant, action: @escaping @Sendable () -> Void) {
    self.instant = instant
    self.action = action
  }

  package func isEarlier(than other: Deadline) -> Bool {
    self.instant < other.instant
  }
}
