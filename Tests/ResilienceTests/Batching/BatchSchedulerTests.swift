import OperationBatching
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct BatchSchedulerTests {
  private let tick = BatchTick()
  private let asked = Log<[Int]>()

  private func batcher(maximumSize: Int = 100) -> OperationBatcher<Int, Int> {
    let asked = self.asked
    return OperationBatcher(maximumSize: maximumSize, scheduler: self.tick) { keys, _ in
      asked.append(keys)
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, .success($0)) })
    }
  }

  private func load(_ key: Int, from batcher: OperationBatcher<Int, Int>) -> Task<Int, any Error> {
    Task.immediate { try await batcher.load(key) }
  }

  @Test func `A tick sends the keys that were loaded since the last one`() async throws {
    let batcher = self.batcher()
    let tasks = [1, 2].map { self.load($0, from: batcher) }
    #expect(self.asked.all.isEmpty && self.tick.openCount == 1)
    self.tick.fire()
    #expect(self.asked.all == [[1, 2]] && self.tick.openCount == 0)
    self.tick.fire()
    let third = self.load(3, from: batcher)
    self.tick.fire()
    expect(self.asked.all, equals: [[1, 2], [3]])
    for task in tasks + [third] { _ = try await task.value }
    expect(batcher.snapshot().window, equals: nil)
  }

  @Test func `Batchers that share a tick are sent in the order in which they were opened`() async throws {
    let batchers = [self.batcher(), self.batcher(), self.batcher()]
    let tasks = batchers.enumerated().map { self.load($0.offset, from: $0.element) }
    self.tick.fire()
    expect(self.asked.all, equals: [[0], [1], [2]])
    for task in tasks { _ = try await task.value }
  }

  @Test func `A batch that is full is sent before the tick, and leaves nothing`() async throws {
    let batcher = self.batcher(maximumSize: 2)
    let tasks = [1, 2].map { self.load($0, from: batcher) }
    #expect(self.asked.all == [[1, 2]] && self.tick.openCount == 0)
    self.tick.fire()
    for task in tasks { _ = try await task.value }
    expect(self.asked.count, equals: 1)
  }

  @Test func `A batch whose callers have left is not sent, and leaves nothing`() async throws {
    let batcher = self.batcher()
    let task = self.load(1, from: batcher)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    expect(self.tick.openCount, equals: 0)
    self.tick.fire()
    #expect(self.asked.all.isEmpty)
  }

  @Test func `A key that a request loads waits for the next tick`() async throws {
    let (tick, asked) = (self.tick, self.asked)
    let inner = self.batcher()
    let outer = OperationBatcher<Int, Int>(scheduler: tick) { keys, _ in
      let value = try await inner.load(keys[0] + 1)
      return [keys[0]: .success(value)]
    }
    let task = self.load(1, from: outer)
    tick.fire()
    #expect(asked.all.isEmpty && tick.openCount == 1)
    tick.fire()
    try await expect(task.value, equals: 2)
  }

  /// Sends each batch twice.
  private struct Twice: BatchScheduler {
    func schedule(in context: OperationContext, _ send: @escaping @Sendable () -> Void) -> OperationSubscription {
      send()
      send()
      return .empty
    }
  }

  @Test func `A scheduler that sends at once, and twice, sends one request`() async throws {
    let asked = self.asked
    let batcher = OperationBatcher<Int, Int>(scheduler: Twice()) { keys, _ in
      asked.append(keys)
      return [1: .success(1)]
    }
    try await expect(batcher.load(1), equals: 1)
    expect(asked.all, equals: [[1]])
  }
}
