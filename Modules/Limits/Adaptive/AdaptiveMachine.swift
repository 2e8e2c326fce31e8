package import OperationCore

/// Permits whose number grows by one after each round without overload, and shrinks by a factor at a sign of overload.
///
/// A round is as many successful runs as there are permits. A sign of overload counts once for all runs that were under
/// way together: a run that began before the last reduction says nothing about the current number.
package struct AdaptiveMachine: LimitMachine {
  /// The number of runs in a period. The shortest duration of a period is dropped at the end of the next period.
  private static let periodLength = 1000

  private let range: ClosedRange<Int>
  private let factor: Double
  private let tolerance: Double
  private var permits: PermitMachine
  /// The number of reductions.
  package private(set) var reductions: UInt64 = 0
  /// The successful runs of this round.
  private var successes = 0
  /// Whether all permits were in use at some time in this round; otherwise more of them would not help.
  private var isExhausted = false
  /// The shortest duration of a successful run in this period.
  private var shortest: Duration?
  /// The shortest duration of a successful run in the previous period.
  private var previousShortest: Duration?
  private var runsOfPeriod = 0

  package init(range: ClosedRange<Int>, factor: Double, tolerance: Double, maximumWaiting: Int) {
    self.range = range
    self.factor = factor
    self.tolerance = tolerance
    self.permits = PermitMachine(limit: range.lowerBound, maximumWaiting: maximumWaiting)
  }

  package var limit: Int { self.permits.limit }
  package var inUse: Int { self.permits.inUse }
  package var waiterCount: Int { self.permits.waiterCount }

  package var decided: [LimitWaiter] {
    get { self.permits.decided }
    _modify { yield &self.permits.decided }
  }

  package var alarm: (due: Duration, deadlines: any DeadlineSource)? { self.permits.alarm }

  package mutating func take() -> Bool {
    let isTaken = self.permits.take()
    if self.permits.inUse >= self.permits.limit { self.isExhausted = true }
    return isTaken
  }

  package mutating func join(_ waiter: LimitWaiter, at now: Duration) -> LimitWaiter.Decision? {
    self.permits.join(waiter, at: now)
  }

  package mutating func remove(_ waiter: LimitWaiter) {
    self.permits.remove(waiter)
  }

  package mutating func wake(at now: Duration) {
    self.permits.wake(at: now)
  }

  package mutating func giveBack() {
    self.permits.giveBack()
  }

  /// Returns the permit of a run that has succeeded.
  ///
  /// - Parameters:
  ///   - duration: How long the run has taken.
  ///   - reductions: The number of reductions when the run began.
  package mutating func giveBack(afterSuccess duration: Duration, reductions: UInt64) {
    let isOverloaded = self.isTooLong(duration)
    self.note(duration)
    if isOverloaded {
      self.reduce(reductions)
    } else if reductions == self.reductions {
      self.successes += 1
      if self.successes >= self.limit { self.endRound() }
    }
    self.permits.giveBack()
  }

  /// Returns the permit of a run whose failure is a sign of overload.
  package mutating func giveBack(afterOverload reductions: UInt64) {
    self.reduce(reductions)
    self.permits.giveBack()
  }
}

// MARK: - The number of permits

extension AdaptiveMachine {
  private mutating func endRound() {
    let wasExhausted = self.isExhausted
    self.beginRound()
    if wasExhausted, self.limit < self.range.upperBound { self.permits.setLimit(self.limit + 1) }
  }

  private mutating func reduce(_ reductions: UInt64) {
    guard reductions == self.reductions else { return }
    self.reductions += 1
    self.beginRound()
    let reduced = min(Int(Double(self.limit) * self.factor), self.limit - 1)
    self.permits.setLimit(max(reduced, self.range.lowerBound))
  }

  private mutating func beginRound() {
    self.successes = 0
    self.isExhausted = self.permits.waiterCount > 0 || self.permits.inUse >= self.permits.limit
  }

  private func isTooLong(_ duration: Duration) -> Bool {
    guard let baseline = [self.shortest, self.previousShortest].compactMap(\.self).min() else { return false }
    return duration > max(baseline + .milliseconds(1), baseline * self.tolerance)
  }

  private mutating func note(_ duration: Duration) {
    self.shortest = self.shortest.map { min($0, duration) } ?? duration
    self.runsOfPeriod += 1
    guard self.runsOfPeriod >= Self.periodLength else { return }
    (self.previousShortest, self.shortest, self.runsOfPeriod) = (self.shortest, nil, 0)
  }
}
