internal import OperationCore

/// The concurrent runs of one hedged run. Each is a child task of the same group.
struct HedgeRace<Operation: OperationRequest & Sendable> where Operation.Value: Sendable {
  typealias Outcome = Result<Operation.Value, Operation.Failure>

  let operation: Operation
  let context: OperationContext
  let continuation: OperationContinuation<Operation.Value, Operation.Failure>
  let timing: HedgeTiming
  let maximum: Int
  let budget: RetryBudget?

  private let events = HedgeEventQueue<Outcome>()
  private let yields = HedgeYields()
  /// The elapsed times at which the runs began; nil for a run that has ended.
  private var starts: [Duration?] = []
  private var timer: OperationSubscription?
  private var timerNumber = 0
  /// Whether another run may begin. It becomes false when the budget has refused one.
  private var mayStart = true
  /// The elapsed time before which no run begins, because an error has asked for that; nil if none has.
  private var earliestStart: Duration?

  init(
    operation: Operation,
    context: OperationContext,
    continuation: OperationContinuation<Operation.Value, Operation.Failure>,
    timing: HedgeTiming,
    maximum: Int,
    budget: RetryBudget?
  ) {
    self.operation = operation
    self.context = context
    self.continuation = continuation
    self.timing = timing
    self.maximum = maximum
    self.budget = budget
  }

  /// Runs until one run has succeeded, one has failed for good, or all have failed. The group awaits the runs that are
  /// left.
  mutating func run(
    isolation: isolated (any Actor)?,
    in group: inout TaskGroup<Void>
  ) async -> Outcome {
    self.start(isolation, in: &group)
    defer { self.timer?.cancel() }
    var last: Outcome?
    while true {
      if let last, self.isIdle {
        // A run that an error has put off is all that is left to wait for.
        guard self.timer != nil else { return last }
        if Task.isCancelled { return self.cancellation ?? last }
      }
      switch await self.nextEvent(isolation: isolation) {
      case .cancelled: continue
      case .due(let number):
        guard number == self.timerNumber else { continue }
        self.timer = nil
        self.hedge(isolation, in: &group)
      case .ended(let index, let outcome, let end):
        self.recordEnd(of: index, at: end)
        last = outcome
        switch outcome {
        case .success:
          self.yields.close()
          self.recordOtherRuns()
          group.cancelAll()
          return outcome
        case .failure(let error):
          self.yields.end(index)
          if error.endsCancelledRun {
            if self.isIdle { return outcome }
            continue
          }
          let advice = error.retryAdvice
          if advice == .never {
            group.cancelAll()
            return outcome
          }
          self.hedge(after: advice, isolation, in: &group)
        }
      }
    }
  }

  /// Waits for the next event. Without a run under way, the cancellation of the task is one.
  private func nextEvent(isolation: isolated (any Actor)?) async -> HedgeEventQueue<Outcome>.Event {
    self.isIdle
      ? await self.events.nextOrCancellation(isolation: isolation) : await self.events.next(isolation: isolation)
  }

  /// Whether no run is under way.
  private var isIdle: Bool { self.starts.allSatisfy { $0 == nil } }

  /// A `CancellationError` if the failure type can represent it.
  private var cancellation: Outcome? { (CancellationError() as? Operation.Failure).map { .failure($0) } }

  /// Starts another run after a failure, at once or when the error allows it.
  private mutating func hedge(
    after advice: RetryClassification?,
    _ isolation: (any Actor)?,
    in group: inout TaskGroup<Void>
  ) {
    if case .retryAfter(let hint)? = advice {
      let start = self.context.elapsed + min(max(hint, .zero), self.context.retryAfterCap).clampedForClock
      self.earliestStart = max(self.earliestStart ?? start, start)
    }
    self.hedge(isolation, in: &group)
  }

  /// Starts another run if the limits and the budget allow it, or a timer for it if an error has asked for a delay.
  private mutating func hedge(_ isolation: (any Actor)?, in group: inout TaskGroup<Void>) {
    guard self.mayStart, self.starts.count < self.maximum, !Task.isCancelled else { return self.stopTimer() }
    let (remaining, delay) = (self.context.operationTimeRemaining, self.delayByError)
    if let remaining, remaining == .zero || remaining <= delay { return self.stopTimer() }
    guard delay <= .zero else { return self.setTimer(after: delay) }
    guard self.budget?.withdraw(in: self.context) ?? true else {
      self.mayStart = false
      return self.stopTimer()
    }
    let index = self.starts.count
    self.context.send(
      OperationNotice(.hedgeStarted, of: self.operation, attributes: ["hedge.index": .integer(index)])
    )
    self.start(isolation, in: &group)
  }

  /// How long the errors so far put off the next run; zero if they do not.
  private var delayByError: Duration {
    self.earliestStart.map { max($0 - self.context.elapsed, .zero) } ?? .zero
  }

  private mutating func start(_ isolation: (any Actor)?, in group: inout TaskGroup<Void>) {
    let index = self.starts.count
    self.starts.append(self.context.elapsed)
    self.setTimer()
    let (operation, events, yields, continuation) = (self.operation, self.events, self.yields, self.continuation)
    var context = self.context
    if index > 0 { context.operationHedgeIndex = index }
    let run: @Sendable @isolated(any) () async -> Void = { [context] in
      let outcome: Outcome
      let own = OperationContinuation<Operation.Value, Operation.Failure> { result, context in
        if yields.mayYield(index) { continuation.yield(with: result, using: context) }
      }
      do throws(Operation.Failure) {
        outcome = .success(try await operation.run(isolation: isolation, in: context, with: own))
      } catch {
        outcome = .failure(error)
      }
      events.send(.ended(index, outcome, at: context.elapsed))
    }
    // With an executor preference, a run that blocks its thread does not keep the next one from its start.
    if context.hasTaskConfiguration, let executor = context.operationTaskConfiguration.executorPreference {
      group.addTask(executorPreference: executor, operation: run)
    } else {
      group.addImmediateTask(operation: run)
    }
  }

  /// Replaces the timer with one for the next run beside the one that begins.
  private mutating func setTimer() {
    guard self.starts.count < self.maximum, let delay = self.timing.currentDelay else { return self.stopTimer() }
    self.setTimer(after: max(delay, self.delayByError))
  }

  private mutating func setTimer(after delay: Duration) {
    self.stopTimer()
    let (events, number) = (self.events, self.timerNumber)
    self.timer = self.context.operationDeadlines.schedule(after: delay) { events.send(.due(number)) }
  }

  private mutating func stopTimer() {
    self.timer?.cancel()
    self.timer = nil
    self.timerNumber += 1
  }

  private mutating func recordEnd(of index: Int, at end: Duration) {
    guard let start = self.starts[index] else { return }
    self.starts[index] = nil
    self.timing.record(end - start)
  }

  /// Records the durations so far of the runs that are about to be cancelled.
  private func recordOtherRuns() {
    let now = self.context.elapsed
    for case let start? in self.starts { self.timing.record(now - start) }
  }
}
