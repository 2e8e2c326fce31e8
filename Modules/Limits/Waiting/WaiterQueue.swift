internal import OperationCore

/// The runs that wait for one limit, up to a number, and the decisions about them.
struct WaiterQueue: Sendable {
  /// The number of runs that may wait. Runs that wait beyond it, because it was lowered, stay.
  var maximum: Int
  private var lines: WaiterLines
  /// The waiters with a longest wait.
  private var dues = DeadlineHeap<LimitWaiter>()
  /// The waiters that have a decision and are not resumed yet.
  var decided: [LimitWaiter] = []
  /// The number of rejected runs since the limit was made.
  private(set) var rejections = 0

  init(maximum: Int, order: LimitOrder = .firstComeFirstServed) {
    self.maximum = maximum
    self.lines = WaiterLines(order: order)
  }

  var count: Int { self.lines.count }
  var first: LimitWaiter? { self.lines.first }
  var order: LimitOrder { self.lines.order }
  var settings: QueueSettings { QueueSettings(maximum: self.maximum, order: self.order) }

  /// The number of runs that begin before a new one with this criticality.
  func count(before criticality: OperationCriticality) -> Int { self.lines.count(from: criticality) }

  mutating func setOrder(_ order: LimitOrder) { self.lines.setOrder(order) }

  /// The first time at which a run has waited for too long.
  var alarm: (due: Duration, deadlines: any DeadlineSource)? {
    guard let first = self.dues.first, let due = first.due else { return nil }
    return (due, first.deadlines)
  }

  /// Adds a run, or rejects it where no place is left or it may not wait.
  ///
  /// - Parameters:
  ///   - waiter: The run.
  ///   - now: The elapsed time.
  ///   - retryAfter: The time until the run would be admitted, if it is known.
  /// - Returns: The rejection; nil if the run waits.
  mutating func join(
    _ waiter: LimitWaiter,
    at now: Duration,
    retryAfter: Duration? = nil
  ) -> LimitWaiter.Decision? {
    if let due = waiter.due, due <= now { return self.refuse(retryAfter: retryAfter) }
    if self.count >= self.maximum {
      guard self.maximum > 0, let victim = self.lines.victim(for: waiter, at: now) else {
        return self.refuse(retryAfter: retryAfter)
      }
      self.reject(victim)
    }
    self.lines.append(waiter, at: now)
    if waiter.due != nil { self.dues.insert(waiter) }
    return nil
  }

  /// Counts a rejection of a run that does not wait.
  mutating func refuse(retryAfter: Duration? = nil) -> LimitWaiter.Decision {
    self.rejections += 1
    return .rejected(retryAfter: retryAfter)
  }

  mutating func remove(_ waiter: LimitWaiter) {
    self.lines.remove(waiter)
    self.dues.remove(waiter)
  }

  /// Admits the run whose turn it is. Returns false if none waits.
  mutating func admitNext(at now: Duration) -> Bool {
    guard self.count > 0 else { return false }
    var dropped: [LimitWaiter] = []
    let next = self.lines.popNext(at: now, dropping: &dropped)
    for waiter in dropped { self.reject(waiter) }
    guard let next else { return false }
    self.dues.remove(next)
    self.decide(.admitted, for: next)
    return true
  }

  /// Rejects the runs that have waited for too long.
  mutating func expire(at now: Duration) {
    while let first = self.dues.first, let due = first.due, due <= now { self.reject(first) }
  }

  private mutating func reject(_ waiter: LimitWaiter) {
    self.remove(waiter)
    self.rejections += 1
    self.decide(.rejected(retryAfter: nil), for: waiter)
  }

  private mutating func decide(_ decision: LimitWaiter.Decision, for waiter: LimitWaiter) {
    waiter.decide(decision)
    self.decided.append(waiter)
  }
}
