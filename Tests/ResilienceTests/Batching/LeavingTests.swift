import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationBatching

@Suite(.bounded, .warningsAreIssues) struct LeavingTests {
  private let batching = Batching()

  @Test func `The key of a caller that leaves is not requested`() async throws {
    let tasks = [1, 2, 3].map { self.batching.load($0) }
    tasks[1].cancel()
    await #expect(throws: CancellationError.self) { try await tasks[1].value }
    self.batching.endWindow()
    let batch = try await self.batching.next()
    expect(batch.keys, equals: [1, 3])
    batch.answer()
    try await expect(tasks[0].value, equals: "1")
    try await expect(tasks[2].value, equals: "3")
  }

  @Test func `A key stays while one of its callers waits`() async throws {
    let tasks = [1, 1, 1].map { self.batching.load($0) }
    tasks[0].cancel()
    tasks[2].cancel()
    self.batching.endWindow()
    let batch = try await self.batching.next()
    expect(batch.keys, equals: [1])
    batch.answer()
    try await expect(tasks[1].value, equals: "1")
    await #expect(throws: CancellationError.self) { try await tasks[0].value }
    await #expect(throws: CancellationError.self) { try await tasks[2].value }
  }

  @Test func `A removed key can be added again, and makes room for another`() async throws {
    let batching = Batching(maximumSize: 2)
    let first = batching.load(1)
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    expect(batching.clock.sleeperCount(), equals: 0)
    let kept = batching.load(2)
    let left = batching.load(3)
    _ = try await batching.next().answer()
    _ = (try await kept.value, try await left.value)
    let again = batching.load(1)
    let leaving = batching.load(4)
    _ = try await batching.next().answer()
    _ = (try await again.value, try await leaving.value)
    let (one, two, three) = (batching.load(1), batching.load(1), batching.load(1))
    two.cancel()
    batching.endWindow()
    _ = try await batching.next().answer()
    _ = (try await one.value, try await three.value)
    expect(batching.asked.all, equals: [[2, 3], [1, 4], [1]])
  }

  @Test func `A removed key does not count for the size of its batch`() async throws {
    let batching = Batching(maximumSize: 2)
    let (one, two) = (batching.load(1), Task.immediate { [batching] in try await batching.load(1).value })
    let three = batching.load(1)
    three.cancel()
    await #expect(throws: CancellationError.self) { try await three.value }
    let four = batching.load(4)
    let batch = try await batching.next()
    expect(batch.keys, equals: [1, 4])
    batch.answer()
    _ = (try await one.value, try await two.value, try await four.value)
  }

  @Test func `Keys that are removed and added again in one window are requested once, in their last order`()
    async throws
  {
    let batching = Batching(maximumSize: 1_000)
    let kept = batching.load(-1)
    for round in 0..<5 {
      let leaving = (0..<200).map { batching.load(($0 + round) % 200) }
      for task in leaving { task.cancel() }
      for task in leaving { await #expect(throws: CancellationError.self) { try await task.value } }
    }
    let tasks = (0..<400).map { batching.load($0 % 200) }
    batching.endWindow()
    let batch = try await batching.next()
    expect(batch.keys, equals: [-1] + (0..<200))
    batch.answer()
    try await expect(kept.value, equals: "-1")
    for (number, task) in tasks.enumerated() { try await expect(task.value, equals: "\(number % 200)") }
  }

  /// A key whose comparisons are counted.
  private struct Counted: Hashable, Sendable {
    let number: Int
    let comparisons: Counter

    static func == (one: Self, other: Self) -> Bool {
      one.comparisons.increment()
      return one.number == other.number
    }

    func hash(into hasher: inout Hasher) { hasher.combine(self.number) }
  }

  @Test(arguments: [100, 10_000])
  func `A caller that leaves compares few keys, whatever their number`(count: Int) {
    let comparisons = Counter()
    let batcher = OperationBatcher<Counted, Int>(maximumSize: count + 1) { _, _ in [:] }
    let callers = (0..<count).map { BatchCaller<Counted, Int>(Counted(number: $0, comparisons: comparisons)) }
    for caller in callers { _ = batcher.queue.join(caller, in: self.batching.context) }
    let before = comparisons.value
    #expect(callers.allSatisfy { batcher.queue.leave($0) })
    #expect(comparisons.value - before <= 10 * count)
    expect(batcher.queue.openCount, equals: 0)
  }

  @Test func `A batch whose callers have all left is not sent, and leaves no timer`() async throws {
    let tasks = [1, 2].map { self.batching.load($0) }
    for task in tasks { task.cancel() }
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
    expect(self.batching.clock.sleeperCount(), equals: 0)
    let later = self.batching.load(3)
    self.batching.endWindow()
    try await self.batching.next().answer()
    try await expect(later.value, equals: "3")
    expect(self.batching.asked.all, equals: [[3]])
  }

  @Test func `A batch whose last caller leaves between its window and its request is not sent`() async throws {
    let asked = Log<[Int]>()
    let batcher = OperationBatcher<Int, Int> { keys, _ in
      asked.append(keys)
      return [:]
    }
    let caller = BatchCaller<Int, Int>(1)
    guard case .opened(let batch, let window) = batcher.queue.join(caller, in: self.batching.context) else {
      Issue.record("The first caller has not opened a batch.")
      return
    }
    batcher.queue.startWindow(of: batch, window, scheduler: nil) { batch in
      #expect(batcher.queue.leave(caller))
      batcher.send(batch)
    }
    self.batching.endWindow()
    #expect(asked.count == 0 && batcher.queue.openCount == 0)
    let task = Task.immediate { [context = self.batching.context] in try await batcher.load(2, in: context) }
    self.batching.endWindow()
    await #expect(throws: BatchAnswerMissing.self) { try await task.value }
    expect(asked.all, equals: [[2]])
  }

  @Test func `No request is empty, whenever callers leave`() async {
    let batcher = OperationBatcher<Int, Int>(maximumSize: 2, window: .microseconds(20)) { keys, _ in
      #expect(!keys.isEmpty)
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, .success($0)) })
    }
    await withTaskGroup { group in
      for worker in 0..<8 {
        group.addTask {
          for number in 0..<250 {
            let task = Task { try await batcher.load(number % (worker + 1)) }
            if number.isMultiple(of: 2) { task.cancel() } else { Task { task.cancel() } }
            _ = await task.result
          }
        }
      }
    }
  }

  @Test(arguments: [true, false])
  func `What has left is released while the batch collects`(hasOneKey: Bool) async throws {
    let (lifetimes, others) = (LifetimeTracker(), LifetimeTracker())
    let batcher = OperationBatcher<TrackedKey, Int> { keys, _ in
      Dictionary(uniqueKeysWithValues: keys.map { ($0, .success($0.number)) })
    }
    let load = { [context = self.batching.context] (number: Int, tracker: LifetimeTracker) in
      Task.immediate { try await batcher.load(TrackedKey(number: number, token: tracker.token()), in: context) }
    }
    let kept = load(0, others)
    for number in 1...2_000 {
      let task = load(hasOneKey ? 0 : number, lifetimes)
      task.cancel()
      _ = await task.result
    }
    try await lifetimes.noneAlive()
    let last = load(1, others)
    self.batching.endWindow()
    try await expect(kept.value, equals: 0)
    try await expect(last.value, equals: 1)
  }

  @Test func `Callers of many keys leave and come back in any order`() async throws {
    var generator = SeededGenerator(seed: 7)
    let batching = Batching(maximumSize: 10_000)
    var waiting: [(key: Int, task: Task<String, any Error>)] = []
    for _ in 0..<3_000 {
      if waiting.isEmpty || generator.next() % 5 < 3 {
        let key = Int(generator.next() % 300)
        waiting.append((key, batching.load(key)))
      } else {
        let index = Int(generator.next() % UInt64(waiting.count))
        let (_, task) = waiting.remove(at: index)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
      }
    }
    batching.endWindow()
    let batch = try await batching.next()
    #expect(Set(batch.keys) == Set(waiting.map(\.key)) && Set(batch.keys).count == batch.keys.count)
    batch.answer()
    for (key, task) in waiting { try await expect(task.value, equals: "\(key)") }
  }

  @Test func `A caller that leaves a sent batch ends at once, and the request continues for the others`() async throws {
    let tasks = [1, 2].map { self.batching.load($0) }
    self.batching.endWindow()
    let batch = try await self.batching.next()
    tasks[0].cancel()
    await #expect(throws: CancellationError.self) { try await tasks[0].value }
    #expect(!batch.run.isCancelled)
    batch.answer()
    try await expect(tasks[1].value, equals: "2")
  }

  @Test func `The request is cancelled when all callers have left`() async throws {
    let tasks = [1, 1, 2].map { self.batching.load($0) }
    self.batching.endWindow()
    let batch = try await self.batching.next()
    for task in tasks {
      #expect(!batch.run.isCancelled)
      task.cancel()
    }
    try await batch.run.cancelled()
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
  }

  @Test func `A load of a cancelled task does not join`() async throws {
    let task = Task { [batching] in
      withUnsafeCurrentTask { $0?.cancel() }
      return try await batching.batcher.load(1, in: batching.context)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    expect(self.batching.clock.sleeperCount(), equals: 0)
  }

  @Test func `Keys, callers and answers are released`() async throws {
    let lifetimes = LifetimeTracker()
    let clock = ManualClock()
    do {
      var context = OperationContext()
      context.use(clock)
      let batcher = OperationBatcher<TrackedKey, LifetimeTracker.Token> { keys, _ in
        Dictionary(uniqueKeysWithValues: keys.map { ($0, .success(lifetimes.token())) })
      }
      let tasks = (0..<20).map { number in
        Task.immediate { [context] in
          try await batcher.load(TrackedKey(number: number % 8, token: lifetimes.token()), in: context)
        }
      }
      for task in tasks.prefix(9) { task.cancel() }
      clock.advance(by: .milliseconds(2))
      for task in tasks { _ = await task.result }
      let waiting = Task.immediate { [context] in
        try await batcher.load(TrackedKey(number: 1, token: lifetimes.token()), in: context)
      }
      waiting.cancel()
      _ = await waiting.result
    }
    try await lifetimes.noneAlive()
    expect(clock.sleeperCount(), equals: 0)
  }

  @Test(arguments: 0..<10)
  func `Concurrent callers that join and leave all get an answer`(round: Int) async throws {
    let batcher = OperationBatcher<Int, Int>(maximumSize: 5, window: .microseconds(50)) { keys, _ in
      #expect(keys.count <= 5 && Set(keys).count == keys.count)
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, .success($0 + 1)) })
    }
    await withTaskGroup { group in
      for worker in 0..<8 {
        group.addTask {
          for number in 0..<100 {
            let key = (number * 31 + worker) % 13
            var context = OperationContext()
            if number % 3 == 0 { context.operationBatchScope = number % 2 }
            let task = Task { [context] in try await batcher.load(key, in: context) }
            if (number + worker + round) % 4 == 0 { task.cancel() }
            switch await task.result {
            case .success(let value): expect(value, equals: key + 1)
            case .failure(let error): #expect(error is CancellationError)
            }
          }
        }
      }
    }
  }

  @Test func `Invalid arguments trap`() async {
    await #expect(processExitsWith: .failure) {
      _ = OperationBatcher<Int, Int>(maximumSize: 0) { _, _ in [:] }
    }
  }
}

private struct TrackedKey: Hashable, Sendable {
  let number: Int
  let token: LifetimeTracker.Token

  static func == (lhs: TrackedKey, rhs: TrackedKey) -> Bool { lhs.number == rhs.number }

  func hash(into hasher: inout Hasher) {
    hasher.combine(self.number)
  }
}
