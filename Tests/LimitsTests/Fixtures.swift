import OperationCore
import OperationLimits
import OperationTesting
import Synchronization
import Testing

struct Failed: Error, Hashable {}

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

extension OperationRequest {
  /// Runs the operation with a context that was not set up.
  @discardableResult
  func runBare(in context: OperationContext = OperationContext()) async throws(Failure) -> Value {
    try await self.run(isolation: nil, in: context, with: OperationContinuation { _, _ in })
  }
}

/// A small generator with a seed (SplitMix64: G. Steele, D. Lea, C. Flood, 2014), so that a failure can be repeated.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    self.state = seed
  }

  mutating func next() -> UInt64 {
    self.state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = self.state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
