package import OperationCore

/// Permits whose number a ``ConcurrencySearch`` finds from the durations of runs, and which failures reduce.
///
/// Failures count once for all runs that were under way together: a run that began before the last reduction says
/// nothing about the current number.
package struct AdaptiveMachine: LimitMachine {
  /// What a run that is under way has to return with its permit.
  package struct Ticket: Sendable {
    let cohort: UInt64
    let reductions: UInt64
  }

  private var factor: Double
  private var search: ConcurrencySearch
  private var permits: PermitMachine
  /// The number of reductions because of failures.
  private var reductions: UInt64 = 0
  /// The runs that have ended since the last round, and how many of them have failed. A round is one limit of runs.
  private var ended = 0
  private var failed = 0

  package init(
    range: ClosedRange<Int>,
    factor: Double,
    tolerance: Double,
    maximumWaiting: Int,
    order: LimitOrder = .firstComeFirstServed
  ) {
    self.factor = factor
    self.search = ConcurrencySearch(range: range, tolerance: tolerance)
    self.permits = PermitMachine(limit: range.lowerBound, maximumWaiting: maximumWaiting, order: order)
  }

  package var limit: Int { self.search.limit }
  package var inUse: Int { self.permits.inUse }
  package var admitted: Int { self.permits.limit }
  package var waiterCount: Int { self.permits.waiterCount }
  package var rejections: Int { self.permits.rejections }
  package var firstWaiter: LimitWaiter? { self.permits.firstWaiter }
  package var range: ClosedRange<Int> { self.search.range }
  var reason: AdaptiveLimitSnapshot.Reason { self.search.reason }

  package var decided: [LimitWaiter] {
    get { self.permits.decided }
    _modify { yield &self.permits.decided }
  }

  package var alarm: (due: Duration, deadlines: any DeadlineSource)? {
    guard let end = self.search.reductionEnd, let deadlines = self.permits.firstWaiter?.deadlines else {
      return self.permits.alarm
    }
    let alarm = self.permits.alarm
    return alarm.flatMap { $0.due <= end ? $0 : nil } ?? (end, deadlines)
  }

  package mutating func take() -> Bool { self.permits.take() }

  package mutating func join(_ waiter: LimitWaiter, at now: Duration) -> LimitWaiter.Decision? {
    self.permits.join(waiter, at: now)
  }

  package mutating func remove(_ waiter: LimitWaiter) {
    self.permits.remove(waiter)
  }

  package mutating func wake(at now: Duration) {
    self.permits.wake(at: now)
    guard let end = self.search.reductionEnd, end <= now else { return }
    self.search.giveUpReduction()
    self.permits.setLimit(self.search.admitted, at: now)
  }

  /// Counts a run that begins with a permit.
  package mutating func begin() -> Ticket {
    Ticket(cohort: self.search.begin(inUse: self.permits.inUse), reductions: self.reductions)
  }
}

// MARK: - Ends of runs

extension AdaptiveMachine {
  /// Returns the permit of a run whose outcome says nothing about the service.
  package mutating func giveBack(_ ticket: Ticket, at now: Duration) {
    self.search.abandon(ticket.cohort)
    self.finish(at: now)
  }

  /// Returns the permit of a run that has succeeded.
  package mutating func giveBack(_ ticket: Ticket, afterSuccess duration: Duration, at now: Duration) {
    if ticket.reductions == self.reductions { self.count(isFailure: false) }
    self.search.end(duration, of: ticket.cohort, at: now)
    self.finish(at: now)
  }

  /// Returns the permit of a run whose failure is a sign of overload.
  package mutating func giveBack(afterFailure ticket: Ticket, at now: Duration) {
    self.search.abandon(ticket.cohort)
    if ticket.reductions == self.reductions { self.count(isFailure: true) }
    self.finish(at: now)
  }

  private mutating func finish(at now: Duration) {
    // At once with the permit, so that no waiter takes it under the old limit.
    self.permits.giveBack(settingLimit: self.search.admitted, at: now)
  }

  private mutating func count(isFailure: Bool) {
    self.ended += 1
    if isFailure { self.failed += 1 }
    let round = max(self.limit, self.ended)
    // A service that works well fails now and then.
    if self.failed * 10 > round {
      self.reductions += 1
      self.search.shrink(by: self.factor)
    } else if self.ended < self.limit {
      return
    }
    (self.ended, self.failed) = (0, 0)
  }
}

// MARK: - Other settings

/// What an update may change of an adaptive limit, and its number.
struct AdaptiveSettings: Sendable {
  let limit: Int
  let range: ClosedRange<Int>
  let factor: Double
  let tolerance: Double
  let queue: QueueSettings
}

extension AdaptiveMachine {
  var settings: AdaptiveSettings {
    AdaptiveSettings(
      limit: self.limit,
      range: self.range,
      factor: self.factor,
      tolerance: self.search.tolerance,
      queue: self.permits.queue.settings
    )
  }

  /// Changes the settings. The number moves into the range at once, and the waiting runs that it admits begin.
  package mutating func update(
    range: ClosedRange<Int>,
    factor: Double?,
    tolerance: Double?,
    maximumWaiting: Int?,
    order: LimitOrder?,
    at now: Duration
  ) {
    if let factor { self.factor = factor }
    if let maximumWaiting { self.permits.queue.maximum = maximumWaiting }
    if let order { self.permits.queue.setOrder(order) }
    self.search.update(range: range, tolerance: tolerance)
    self.permits.setLimit(self.search.admitted, at: now)
  }
}
