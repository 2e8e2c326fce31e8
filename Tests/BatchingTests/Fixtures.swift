import OperationBatching
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// A request that the test has received, and answers.
struct ReceivedBatch: Sendable {
  let keys: [Int]
  let run: ScriptedRun<[Int: Result<String, any Error>], any Error>

  var context: OperationContext { self.run.context }

  /// Answers each key with its digits.
  func answer() {
    self.run.succeed(Dictionary(uniqueKeysWithValues: self.keys.map { ($0, .success("\($0)")) }))
  }
}

/// A batcher with a manual clock, whose requests the test answers.
struct Batching: Sendable {
  let clock = ManualClock()
  let script = OperationScript<[Int: Result<String, any Error>], any Error>()
  let asked = Log<[Int]>()
  let batcher: OperationBatcher<Int, String>

  init(maximumSize: Int = 100, window: Duration = .milliseconds(2)) {
    let (script, asked) = (self.script, self.asked)
    self.batcher = OperationBatcher(maximumSize: maximumSize, window: window) { keys, context in
      asked.append(keys)
      return try await script.run(in: context, with: OperationContinuation { _, _ in })
    }
  }

  var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    return context
  }

  func load(_ key: Int, scope: (any Hashable & Sendable)? = nil) -> Task<String, any Error> {
    var context = self.context
    if let scope { context.operationBatchScope = scope }
    return Task.immediate { [batcher, context] in try await batcher.load(key, in: context) }
  }

  /// Ends the window of all open batches.
  func endWindow() {
    self.clock.advance(by: .milliseconds(2))
  }

  /// Waits for the next request.
  func next() async throws -> ReceivedBatch {
    let run = try await self.script.next()
    return ReceivedBatch(keys: self.asked.all[run.number - 1], run: run)
  }
}
