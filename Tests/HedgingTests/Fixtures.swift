import OperationCore
import OperationHedging
import OperationTesting
import Synchronization
import Testing

struct Failed: Error, Hashable {
  var number = 0
}

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

  /// Runs the query once, which takes a time.
  func run(for duration: Duration) async throws {
    let task = self.begin()
    let run = try await self.script.next()
    self.clock.advance(by: duration)
    run.succeed(1)
    _ = try await task.value
  }
}

extension OperationRequest {
  /// Runs the operation with a context that was not set up.
  @discardableResult
  func runBare(in context: OperationContext = OperationContext()) async throws(Failure) -> Value {
    try await self.run(isolation: nil, in: context, with: OperationContinuation { _, _ in })
  }
}

/// What was recorded, in order.
final class Record<Element: Sendable>: Sendable {
  private let state = Mutex<[Element]>([])

  var all: [Element] { self.state.withLock { $0 } }

  func append(_ element: Element) {
    self.state.withLock { $0.append(element) }
  }
}
