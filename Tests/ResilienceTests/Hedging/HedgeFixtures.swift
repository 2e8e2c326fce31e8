import OperationCore
import OperationHedging
import OperationTesting
import Testing

/// A hedged scripted query, on manual time.
struct Hedging: Sendable {
  let clock = ManualClock()
  let script: OperationScript<Int, any Error>
  let query: ModifiedOperation<ScriptedQuery<Int, any Error>, Hedge<ScriptedQuery<Int, any Error>>>

  init(
    after delay: HedgeDelay,
    maximum: Int = 2,
    budget: RetryBudget? = nil,
    endsOnCancellation: Bool = true
  ) {
    self.script = OperationScript(endsOnCancellation: endsOnCancellation)
    self.query = self.script.query().hedged(after: delay, maximum: maximum, budget: budget)
  }

  var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    return context
  }

  func begin(
    in context: OperationContext? = nil,
    with continuation: OperationContinuation<Int, any Error> = .init { _, _ in }
  ) -> Task<Int, any Error> {
    let runner = OperationRunner(operation: self.query, initialContext: context ?? self.context)
    return Task.immediate { try await runner.run(isolation: nil, with: continuation) }
  }

  /// Runs the query once, for a duration.
  func run(for duration: Duration) async throws {
    let task = self.begin()
    let run = try await self.script.next()
    self.clock.advance(by: duration)
    run.succeed(1)
    _ = try await task.value
  }
}
