import OperationCore
import OperationLimits
import OperationTesting
import Testing

/// A limit around a scripted operation, on manual time.
struct Limiting<Limit: OperationLimit>: Sendable {
  let clock = ManualClock()
  let script = OperationScript<Int, any Error>()
  let limit: Limit
  var maximumWait: Duration?

  init(_ limit: Limit, maximumWait: Duration? = nil) {
    self.limit = limit
    self.maximumWait = maximumWait
  }

  var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    return context
  }

  /// Runs the operation, which waits for the limit and then for the test.
  func begin(deadline: Duration? = nil, priority: TaskPriority? = nil) -> Task<Int, any Error> {
    let operation = self.script.operation().limited(by: self.limit, maximumWait: self.maximumWait)
    var context = self.context
    if let deadline { context.operationDeadline = self.clock.instant + deadline }
    let runner = OperationRunner(operation: operation, initialContext: context)
    return Task.immediate(priority: priority) { try await runner.run(isolation: nil) }
  }

  func expectRejection(_ retryAfter: Duration?, sourceLocation: SourceLocation = #_sourceLocation) async {
    let task = self.begin()
    await #expect(throws: OperationRejected(retryAfter: retryAfter), sourceLocation: sourceLocation) {
      try await withTimeLimit("the rejection") { try await task.value }
    }
  }
}
