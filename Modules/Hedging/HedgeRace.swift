public import OperationCore

/// What the race needs to know of the types of its operation.
struct HedgedOperation {
  /// Starts the run with an index.
  let start: (Int) -> RunTask
  /// Sends a notice about the operation.
  let send: (OperationNotice.Name, [String: OperationNotice.Value]) -> Void
  /// Whether an outcome is a value that does not count as a success.
  let asksAgain: (RunOutcome) -> Bool
  /// Whether a failure ends all runs.
  let isFatal: (RunOutcome) -> Bool
  /// A `CancellationError` if the failure type can represent it.
  let cancellation: () -> RunOutcome?
}

/// The runs of one hedged run, once its first run has suspended or has not succeeded. It waits for their events in turn.
struct HedgeRace {
  private let start: HedgeStart
  private let operation: HedgedOperation
  private var runs: HedgeRuns { self.start.runs }
  private var context: OperationContext { self.start.context }

  /// The elapsed times at which the runs began; nil for a run whose duration is recorded.
  private var starts: [Duration?]
  /// The number of runs under way.
  private var activeCount = 1
  private var funding: HedgeFunding
  private var timer: RunTimer?
  private var timerNumber = 0
  /// Whether another run may begin. It becomes false when the budget has refused one, or the server wants none.
  private var mayStart = true
  /// The elapsed time before which no run begins, because an error has asked for that; nil if none has.
  private var earliestStart: Duration?
  private var lastFailure: RunOutcome?
  private var lastValue: RunOutcome?

  init(_ start: HedgeStart, of operation: HedgedOperation) {
    self.start = start
    self.operation = operation
    self.starts = [start.elapsed]
    self.funding = HedgeFunding(budget: start.values.budget, hasDeposited: start.hasDeposited)
  }

  /// Runs until one run has succeeded, one has failed for good, or all have ended. Then awaits the runs that are left.
  ///
  /// - Parameter first: The outcome of the first run if it has ended.
  /// - Returns: The outcome of the race.
  nonisolated(nonsending) mutating func outcome(after first: FirstOutcome?) async -> RunOutcome {
    defer { self.timer?.cancel() }
    var decision: RunOutcome?
    if let first {
      decision = self.end(0, with: first.outcome, at: first.end)
    } else {
      self.setTimer()
    }
    while true {
      if let decision { return await self.leaving(with: decision) }
      if let last = self.lastValue ?? self.lastFailure, self.activeCount == 0 {
        // A run that an error has put off is all that is left to wait for.
        guard self.timer != nil else { return last }
        if Task.isCancelled { return self.operation.cancellation() ?? last }
      }
      switch await self.runs.next() {
      case .cancelled: continue
      case .due(let number):
        guard number == self.timerNumber else { continue }
        self.timer = nil
        self.hedge()
      case .ended(let index, let outcome, let end): decision = self.end(index, with: outcome, at: end)
      }
    }
  }

  /// Cancels the runs that are left, and awaits them.
  nonisolated(nonsending) private mutating func leaving(with outcome: RunOutcome) async -> RunOutcome {
    self.stopTimer()
    guard self.activeCount > 0 else { return outcome }
    self.runs.cancelAll()
    while self.activeCount > 0 {
      guard case .ended(_, let late, _) = await self.runs.next() else { continue }
      self.activeCount -= 1
      if late.anyError?.isLocalRejection == true { self.funding.takeBack(in: self.context) }
    }
    return outcome
  }
}

// MARK: - Ends

extension HedgeRace {
  /// Notes the end of a run. Returns the outcome of the race if that decides it.
  private mutating func end(_ index: Int, with outcome: RunOutcome, at end: Duration) -> RunOutcome? {
    self.activeCount -= 1
    if let start = self.starts[index] {
      self.starts[index] = nil
      self.record(end - start)
    }
    guard let error = outcome.anyError else { return self.succeed(index, with: outcome) }
    self.lastFailure = outcome
    self.runs.endYields(of: index)
    if error.isLocalRejection { self.funding.takeBack(in: self.context) }
    if error is CancellationError || Task.isCancelled { return self.activeCount == 0 ? outcome : nil }
    let pushback = (error as? any RetryPushingBack)?.retryPushback
    let advice = error.retryAdvice
    if advice == .never || self.operation.isFatal(outcome) { return outcome }
    switch (pushback, advice) {
    case (.stop?, _): self.mayStart = false
    case (.after(let hint)?, _), (nil, .retryAfter(let hint)?):
      let start = self.context.elapsed + min(max(hint, .zero), self.context.retryAfterCap).clampedForClock
      self.earliestStart = max(self.earliestStart ?? start, start)
    default: break
    }
    self.hedge()
    return nil
  }

  private mutating func succeed(_ index: Int, with outcome: RunOutcome) -> RunOutcome? {
    if self.operation.asksAgain(outcome) {
      self.lastValue = outcome
      self.runs.endYields(of: index)
      if Task.isCancelled { return self.activeCount == 0 ? outcome : nil }
      self.hedge()
      return nil
    }
    self.runs.dropYields()
    if index > 0 { self.start.settings.count { $0.wins &+= 1 } }
    // The other runs are about to be cancelled. Their durations so far count.
    if self.start.values.delay.isQuantile {
      let now = self.context.elapsed
      for case let start? in self.starts { self.record(now - start) }
    }
    return outcome
  }

  private func record(_ duration: Duration) {
    if self.start.values.delay.isQuantile { self.start.settings.record(duration) }
  }
}

// MARK: - Further runs

extension HedgeRace {
  /// Starts another run if the limits and the budget allow it, or a timer for it if an error has asked for a delay.
  private mutating func hedge() {
    guard self.mayStart, self.starts.count < self.start.values.maximum, !Task.isCancelled else {
      return self.stopTimer()
    }
    let (remaining, delay) = (self.context.operationTimeRemaining, self.delayByError)
    if let remaining, remaining == .zero || remaining <= delay { return self.stopTimer() }
    guard delay <= .zero else { return self.setTimer(after: delay) }
    let (settings, index) = (self.start.settings, self.starts.count)
    // Asked before the budget, which pays for runs that begin.
    if let places = self.runs.places, !places.take(for: index) {
      self.operation.send(.hedgeNotAdmitted, settings.nameAttributes)
      return self.stopTimer()
    }
    guard self.funding.pay(in: self.context) else {
      self.runs.places?.cancel(index)
      self.mayStart = false
      settings.count { $0.refusals &+= 1 }
      self.operation.send(.hedgeOverBudget, settings.nameAttributes)
      return self.stopTimer()
    }
    settings.count { $0.hedges &+= 1 }
    self.operation.send(.hedgeStarted, settings.nameAttributes.merging(["hedge.index": .integer(index)]) { $1 })
    self.starts.append(self.context.elapsed)
    self.activeCount += 1
    self.setTimer()
    self.runs.willStart(index)
    self.runs.keep(self.operation.start(index), of: index)
  }

  /// How long the errors so far put off the next run; zero if they do not.
  private var delayByError: Duration {
    self.earliestStart.map { max($0 - self.context.elapsed, .zero) } ?? .zero
  }

  /// Replaces the timer with one for the next run after the one that has begun last.
  private mutating func setTimer() {
    guard self.mayStart, self.starts.count < self.start.values.maximum, let began = self.starts.last ?? nil,
      let delay = self.start.settings.currentDelay(self.start.values.delay)
    else { return self.stopTimer() }
    self.setTimer(after: max(delay - (self.context.elapsed - began), self.delayByError))
  }

  private mutating func setTimer(after delay: Duration) {
    self.stopTimer()
    let (runs, number) = (self.runs, self.timerNumber)
    self.timer = self.context.timer(at: self.context.elapsed + delay.clampedForClock) { runs.send(.due(number)) }
  }

  private mutating func stopTimer() {
    self.timer?.cancel()
    self.timer = nil
    self.timerNumber += 1
  }
}

extension OperationNotice.Name {
  /// A hedge has started another run. The attribute `hedge.index` is the number of earlier runs, `hedge.name` the name of
  /// the settings.
  public static let hedgeStarted = Self("hedge.started")

  /// A hedge has not started another run because its budget does not allow it.
  public static let hedgeOverBudget = Self("hedge.over_budget")

  /// A hedge has not started another run because a limit around it has no permit for one.
  public static let hedgeNotAdmitted = Self("hedge.not_admitted")
}
