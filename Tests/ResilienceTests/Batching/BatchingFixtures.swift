import OperationBatching
import OperationCore
import OperationTesting
import TestFixtures
import Testing

extension OperationContext {
  /// The keys of a request. Requests may begin on several threads at once, so their order says nothing about their keys.
  fileprivate(set) var askedKeys: [Int] {
    get { self[AskedKeysKey.self] }
    set { self[AskedKeysKey.self] = newValue }
  }

  private enum AskedKeysKey: Key {
    static let defaultValue: [Int] = []
  }
}

extension OperationScript<[Int: Result<String, any Error>], any Error> {
  /// Performs the request of a batch, which the test answers.
  func request(_ keys: [Int], in context: OperationContext) async throws -> [Int: Result<String, any Error>] {
    var context = context
    context.askedKeys = keys
    return try await self.run(in: context, with: OperationContinuation { _, _ in })
  }
}

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
      return try await script.request(keys, in: context)
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
    return ReceivedBatch(keys: run.context.askedKeys, run: run)
  }
}
