internal import OperationCore

/// The state of CoDel for one line of waiting runs: the variables and the control law of RFC 8289, section 5.
struct ControlledDelay: Sendable {
  let target: Duration
  let interval: Duration
  /// When waits have been too long for a whole interval; nil while they are not.
  private var firstAbove: Duration?
  private var isDropping = false
  private var nextDrop = Duration.zero
  /// The number of rejections since dropping began, and that number when it last began.
  private var count = 0
  private var lastCount = 0

  init(target: Duration, interval: Duration) {
    self.target = target
    self.interval = interval
  }

  /// Forgets what was observed of a line that was empty since: nothing stood in it.
  mutating func noteEmptyLine() {
    self.firstAbove = nil
    self.isDropping = false
  }

  /// Takes the run to admit from a line, and the runs to reject before it.
  ///
  /// - Parameters:
  ///   - now: The elapsed time.
  ///   - list: The line. Its last run is never rejected.
  ///   - dropped: Receives the runs to reject.
  /// - Returns: The run to admit; nil for an empty line.
  mutating func next(
    at now: Duration,
    from list: inout LimitWaiterList,
    dropping dropped: inout [LimitWaiter]
  ) -> LimitWaiter? {
    guard var waiter = list.popFirst() else { return nil }
    var mayDrop = self.mayDrop(waiter, at: now, isLast: list.first == nil)
    if self.isDropping {
      self.isDropping = mayDrop
      while self.isDropping, now >= self.nextDrop, let next = list.popFirst() {
        dropped.append(waiter)
        self.count += 1
        waiter = next
        mayDrop = self.mayDrop(waiter, at: now, isLast: list.first == nil)
        if mayDrop { self.nextDrop = self.drop(after: self.nextDrop) } else { self.isDropping = false }
      }
    } else if mayDrop, let next = list.popFirst() {
      dropped.append(waiter)
      waiter = next
      _ = self.mayDrop(waiter, at: now, isLast: list.first == nil)
      self.isDropping = true
      // A line that stood a moment ago is rejected at nearly the last rate.
      let delta = self.count - self.lastCount
      self.count = delta > 1 && now - self.nextDrop < self.interval * 16 ? delta : 1
      self.nextDrop = self.drop(after: now)
      self.lastCount = self.count
    }
    return waiter
  }

  private mutating func mayDrop(_ waiter: LimitWaiter, at now: Duration, isLast: Bool) -> Bool {
    guard now - waiter.arrival >= self.target, !isLast else {
      self.firstAbove = nil
      return false
    }
    guard let firstAbove else {
      self.firstAbove = now + self.interval
      return false
    }
    return now >= firstAbove
  }

  /// The control law: the time between two rejections shrinks with the square root of their number.
  private func drop(after time: Duration) -> Duration {
    time + .seconds(self.interval.seconds / Double(self.count).squareRoot())
  }
}
