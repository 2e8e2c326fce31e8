package import OperationCore

/// A run that waits for a permit. The lock of its limit guards its variables.
package final class LimitWaiter: DeadlineHeapElement, @unchecked Sendable {
  // Unchecked because the variables are accessed under the lock of the limit. After the decision, only the caller that
  // has made it uses the resumption.

  package enum Decision: Equatable, Sendable {
    case admitted
    case rejected(retryAfter: Duration?)
    case cancelled
  }

  package let deadlines: any DeadlineSource
  /// The elapsed time after which the run no longer waits; nil if it waits for as long as it takes.
  package private(set) var due: Duration?
  /// How much the run matters.
  package let criticality: OperationCriticality
  /// The elapsed time at which the run began to wait.
  var arrival = Duration.zero
  /// The number of the partition in a ``PartitionMachine``.
  var slot = 0
  /// The number of the permit of a ``RateMachine``.
  package var permit: UInt64 = 0
  /// The wait of the run's task.
  var wait = Waiter<Decision>.arriving
  /// The task to resume after unlocking, if it is suspended when the decision is made.
  private(set) var resumption: Waiter<Decision>.Resumption?

  package var position: Int?
  fileprivate var previous: LimitWaiter?
  fileprivate var next: LimitWaiter?
  fileprivate var isLinked = false

  package init(
    deadlines: any DeadlineSource,
    due: Duration?,
    criticality: OperationCriticality = .critical
  ) {
    self.deadlines = deadlines
    self.due = due
    self.criticality = criticality
  }

  /// Creates a waiter for the run of a context, which may wait for a time from `now` on.
  convenience init(in context: OperationContext, at now: Duration, maximumWait: Duration?) {
    self.init(
      deadlines: context.operationDeadlines,
      due: maximumWait.map { now + $0.clampedForClock },
      criticality: context.operationCriticality
    )
  }

  /// The decision; nil while the run waits.
  package var decision: Decision? { self.wait.outcome }

  /// Lets the run wait no longer than until an elapsed time. Called before the run waits.
  func bound(until end: Duration) { self.due = min(self.due ?? end, end) }

  func decide(_ decision: Decision) { self.resumption = self.wait.decide(decision) }

  package func isEarlier(than other: LimitWaiter) -> Bool {
    guard let due else { return false }
    return other.due.map { due < $0 } ?? true
  }
}

extension LimitWaiter.Decision {
  /// Throws unless the run is admitted.
  ///
  /// - Parameters:
  ///   - name: The name of the limit.
  ///   - lastFailure: The last failure that the limit has seen.
  /// - Throws: ``OperationRejected``, or a `CancellationError` if the run was cancelled while it waited.
  func check(name: String?, lastFailure: LastFailure) throws {
    switch self {
    case .admitted: return
    case .rejected(let retryAfter):
      throw OperationRejected(retryAfter: retryAfter, name: name, lastFailure: lastFailure.current)
    case .cancelled: throw CancellationError()
    }
  }
}

/// Waiters in the order in which they came. Each operation takes constant time.
struct LimitWaiterList: Sendable {
  private(set) var first: LimitWaiter?
  private(set) var last: LimitWaiter?
  private(set) var count = 0

  mutating func append(_ waiter: LimitWaiter) {
    waiter.previous = self.last
    waiter.isLinked = true
    if let last { last.next = waiter } else { self.first = waiter }
    self.last = waiter
    self.count += 1
  }

  /// Removes a waiter. Returns false if the list does not contain it.
  @discardableResult
  mutating func remove(_ waiter: LimitWaiter) -> Bool {
    guard waiter.isLinked else { return false }
    if let previous = waiter.previous { previous.next = waiter.next } else { self.first = waiter.next }
    if let next = waiter.next { next.previous = waiter.previous } else { self.last = waiter.previous }
    (waiter.previous, waiter.next, waiter.isLinked) = (nil, nil, false)
    self.count -= 1
    return true
  }

  mutating func popFirst() -> LimitWaiter? {
    guard let first else { return nil }
    self.remove(first)
    return first
  }

  mutating func popLast() -> LimitWaiter? {
    guard let last else { return nil }
    self.remove(last)
    return last
  }
}
