import OperationCircuitBreaker
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// A breaker around a scripted operation, on manual time.
struct Circuit: Sendable {
  let clock = ManualClock()
  let script = OperationScript<Int, any Error>()
  let breaker: CircuitBreaker

  init(_ breaker: CircuitBreaker) {
    self.breaker = breaker
  }

  var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    return context
  }

  var runner:
    OperationRunner<
      ModifiedOperation<ScriptedOperation<Int, any Error>, CircuitBreaking<ScriptedOperation<Int, any Error>>>
    >
  {
    OperationRunner(operation: self.script.operation().circuitBreaker(self.breaker), initialContext: self.context)
  }

  /// Runs the operation with an outcome that it has at once.
  @discardableResult
  func run(_ outcome: OperationScript<Int, any Error>.Outcome) async -> Result<Int, any Error> {
    self.script.enqueue(outcome)
    let count = self.script.runCount
    do {
      let value = try await self.runner.run(isolation: nil)
      return .success(value)
    } catch {
      // A rejected run has not taken its outcome from the script.
      if error is CircuitOpen, self.script.runCount == count {
        _ = try? await self.script.operation().runWithoutSetup()
      }
      return .failure(error)
    }
  }

  func succeed(_ count: Int = 1) async {
    for _ in 0..<count { await self.run(.value(1)) }
  }

  func fail(_ count: Int = 1) async {
    for _ in 0..<count { await self.run(.error(Refused())) }
  }

  /// Runs the operation, which waits for the test.
  func begin() -> Task<Int, any Error> {
    let runner = self.runner
    return Task.immediate { try await runner.run(isolation: nil) }
  }

  /// Expects the next run to be rejected.
  func expectRejection(_ retryAfter: Duration?, sourceLocation: SourceLocation = #_sourceLocation) async {
    let count = self.script.runCount
    await #expect(throws: CircuitOpen(retryAfter: retryAfter), sourceLocation: sourceLocation) {
      try await self.runner.run(isolation: nil)
    }
    expect(self.script.runCount, equals: count, "a rejected run reached the operation", sourceLocation: sourceLocation)
  }
}

extension CircuitBreaker.State {
  var isOpen: Bool {
    if case .open = self { true } else { false }
  }
}
