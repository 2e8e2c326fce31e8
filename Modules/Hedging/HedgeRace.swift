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

  /// Runs until one run has succeeded or all have failed. The group awaits the runs that are left.
  mutating func run(
    isolation: isolated (any Actor)?,
    in group: inout TaskGroup<Void>
  ) async -> Outcome {
    self.start(isolation, in: &group)
    defer { self.timer?.cancel() }
    while true {
      switch await self.events.next(isolation: isolation) {
      case .due(let number):
        if number == self.timerNumber { self.hedge(isolation, in: &group) }
      case .ended(let index, let outcome, let end):
        self.recordEnd(of: index, at: end)
        switch outcome {
        case .success:
          self.yields.close()
          self.recordOtherRuns()
          group.cancelAll()
          return outcome
        case .failure(let error):
          self.yields.end(index)
          if !error.endsCancelledRun { self.hedge(isolation, in: &group) }
          if self.starts.allSatisfy({ $0 == nil }) { return outcome }
        }
      }
    }
  }

  /// Starts another run if the limits and the budget allow it.
  private mutating func hedge(_ isolation: (any Actor)?, in group: inout TaskGroup<Void>) {
    guard self.mayStart, self.starts.count < self.maximum, !Task.isCancelled else { return }
    guard self.context.operationTimeRemaining != .zero else { return }
    guard self.budget?.withdraw(in: self.context) ?? true else {
      self.mayStart = false
      return
    }
    let index = self.starts.count
    self.context.send(
      OperationNotice(.hedgeStarted, of: self.operation, attributes: ["hedge.index": .integer(index)])
    )
    self.start(isolation, in: &group)
  }

  private mutating func start(_ isolation: (any Actor)?, in group: inout TaskGroup<Void>) {
    let index = self.starts.count
    self.starts.append(self.context.elapsed)
    self.setTimer()
    let (operation, events, yields, continuation) = (self.operation, self.events, self.yields, self.continuation)
    var context = self.context
    if index > 0 { context.operationHedgeIndex = index }
    group.addImmediateTask { [context] in
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
  }

  /// Replaces the timer with one for the next run.
  private mutating func setTimer() {
    self.timer?.cancel()
    self.timer = nil
    self.timerNumber += 1
    guard self.starts.count < self.maximum, let delay = self.timing.currentDelay else { return }
    let (events, number) = (self.events, self.timerNumber)
    self.timer = self.context.operationDeadlines.schedule(after: delay) { events.send(.due(number)) }
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
