import OperationBatching
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct BatchTests {
  private let batching = Batching()

  @Test func `The keys of a window are requested together, in the order in which they were added`() async throws {
    let tasks = [3, 1, 2].map { self.batching.load($0) }
    expect(self.batching.clock.remainingTimes(), equals: [.milliseconds(2)])
    self.batching.clock.advance(by: .milliseconds(1))
    let late = self.batching.load(9)
    self.batching.clock.advance(by: .milliseconds(1))
    let batch = try await self.batching.next()
    expect(batch.keys, equals: [3, 1, 2, 9])
    batch.answer()
    for (task, key) in zip(tasks + [late], [3, 1, 2, 9]) { try await expect(task.value, equals: "\(key)") }
    expect(self.batching.clock.sleeperCount(), equals: 0)
  }

  @Test func `A key of several callers is requested once`() async throws {
    let tasks = [1, 2, 1, 1, 2].map { self.batching.load($0) }
    self.batching.endWindow()
    let batch = try await self.batching.next()
    expect(batch.keys, equals: [1, 2])
    batch.answer()
    for (task, key) in zip(tasks, [1, 2, 1, 1, 2]) { try await expect(task.value, equals: "\(key)") }
  }

  @Test func `A key that is added after its batch was sent is requested again`() async throws {
    let first = self.batching.load(1)
    self.batching.endWindow()
    let batch = try await self.batching.next()
    let second = self.batching.load(1)
    batch.answer()
    try await expect(first.value, equals: "1")
    self.batching.endWindow()
    try await self.batching.next().answer()
    try await expect(second.value, equals: "1")
    expect(self.batching.asked.all, equals: [[1], [1]])
  }

  @Test func `A full batch is sent at once, and the next key opens another`() async throws {
    let batching = Batching(maximumSize: 3)
    let tasks = [1, 2, 1, 3, 4].map { batching.load($0) }
    let full = try await batching.next()
    expect(full.keys, equals: [1, 2, 3])
    full.answer()
    for task in tasks.dropLast() { _ = try await task.value }
    expect(batching.clock.remainingTimes(), equals: [.milliseconds(2)])
    batching.endWindow()
    try await batching.next().answer()
    try await expect(tasks[4].value, equals: "4")
    expect(batching.asked.all, equals: [[1, 2, 3], [4]])
  }

  @Test func `A request that never suspends runs on the thread of the caller that completes the batch`()
    async throws
  {
    let requests = Log<Int>()
    let batcher = OperationBatcher<Int, Int>(maximumSize: 2, window: .seconds(60)) { keys, _ in
      requests.append(keys.count)
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, .success($0)) })
    }
    let first = Task.immediate { try await batcher.load(1) }
    #expect(requests.all.isEmpty)
    let second = Task.immediate { try await batcher.load(2) }
    expect(requests.all, equals: [2])
    try await expect(first.value, equals: 1)
    try await expect(second.value, equals: 2)
  }

  @Test func `A batcher with a maximum size of one sends each key at once`() async throws {
    let batching = Batching(maximumSize: 1)
    let tasks = [1, 1].map { batching.load($0) }
    for task in tasks {
      try await batching.next().answer()
      _ = task
    }
    for task in tasks { try await expect(task.value, equals: "1") }
    expect(batching.clock.sleeperCount(), equals: 0)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `Without a window each key is a batch`(window: Duration) async throws {
    let batching = Batching(window: window)
    let task = batching.load(1)
    try await batching.next().answer()
    try await expect(task.value, equals: "1")
  }

  @Test func `Only the key without an answer fails`() async throws {
    let tasks = [1, 2].map { self.batching.load($0) }
    self.batching.endWindow()
    try await self.batching.next().run.succeed([1: .success("one")])
    try await expect(tasks[0].value, equals: "one")
    let error = await #expect(throws: BatchAnswerMissing.self) { try await tasks[1].value }
    expect(error?.key as? Int, equals: 2)
    expect(error?.description, equals: "The answer of the batch does not contain the key 2.")
  }

  @Test func `A key fails with its own error, and all keys fail when the request throws`() async throws {
    let tasks = [1, 2].map { self.batching.load($0) }
    self.batching.endWindow()
    try await self.batching.next().run.succeed([1: .success("one"), 2: .failure(Refused())])
    try await expect(tasks[0].value, equals: "one")
    await #expect(throws: Refused.self) { try await tasks[1].value }
    let others = [1, 2].map { self.batching.load($0) }
    self.batching.endWindow()
    try await self.batching.next().run.fail(Refused())
    for task in others { await #expect(throws: Refused.self) { try await task.value } }
  }

  @Test func `An answer for a key that was not requested is ignored`() async throws {
    let task = self.batching.load(1)
    self.batching.endWindow()
    try await self.batching.next().run.succeed([1: .success("one"), 7: .success("seven")])
    try await expect(task.value, equals: "one")
  }

  @Test func `Different scopes never share a batch, whatever their hashes`() async throws {
    let tasks = [
      self.batching.load(1, scope: Colliding(name: "a")), self.batching.load(1, scope: Colliding(name: "b")),
      self.batching.load(2, scope: Colliding(name: "a")), self.batching.load(3),
      self.batching.load(4, scope: "a"),
    ]
    self.batching.endWindow()
    var batches: [[Int]] = []
    for _ in 0..<4 {
      let batch = try await self.batching.next()
      switch batch.context.operationBatchScope {
      case let scope as Colliding: expect(batch.keys, equals: (scope.name == "a" ? [1, 2] : [1]))
      case let scope as String: #expect(scope == "a" && batch.keys == [4])
      default: expect(batch.keys, equals: [3])
      }
      batches.append(batch.keys)
      batch.answer()
    }
    expect(Set(batches), equals: [[1, 2], [1], [3], [4]])
    for task in tasks { _ = try await task.value }
    expect(self.batching.clock.sleeperCount(), equals: 0)
  }

  @Test func `Different keys with equal hashes are different keys`() async throws {
    let asked = Log<[Colliding]>()
    let clock = ManualClock()
    var context = OperationContext()
    context.use(clock)
    let batcher = OperationBatcher<Colliding, String>(window: .milliseconds(2)) { keys, _ in
      asked.append(keys)
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, .success($0.name)) })
    }
    let names = ["a", "b", "a", "c", "b"]
    let tasks = names.map { name in
      Task.immediate { [context] in try await batcher.load(Colliding(name: name), in: context) }
    }
    tasks[1].cancel()
    clock.advance(by: .milliseconds(2))
    for (index, name) in names.enumerated() where index != 1 { try await expect(tasks[index].value, equals: name) }
    expect(asked.all, equals: [["a", "b", "c"].map { Colliding(name: $0) }])
  }

  @Test func `The context of the request comes from the first caller, without its run`() async throws {
    var context = self.batching.context
    context.operationDeadline = self.batching.clock.instant + .seconds(1)
    context[MarkKey.self] = 5
    let runner = OperationRunner(operation: self.batching.batcher.query(for: 1), initialContext: context)
    let task = Task.immediate { try await runner.run(isolation: nil) }
    self.batching.endWindow()
    let batch = try await self.batching.next()
    expect(batch.context[MarkKey.self], equals: 5)
    expect(batch.context.operationDeadline, equals: nil)
    expect(batch.context.operationRunningTaskIdentifier, equals: nil)
    batch.answer()
    _ = try await task.value
  }

  @Test func `One request answers ten thousand callers of one thousand keys`() async throws {
    let clock = ManualClock()
    var context = OperationContext()
    context.use(clock)
    let sizes = Log<Int>()
    let batcher = OperationBatcher<Int, Int>(maximumSize: 10_000) { keys, _ in
      sizes.append(keys.count)
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, .success($0 * 2)) })
    }
    let tasks = (0..<10_000).map { number in
      Task.immediate { [context] in try await batcher.load(number % 1000, in: context) }
    }
    expect(clock.sleeperCount(), equals: 1)
    clock.advance(by: .milliseconds(2))
    for (number, task) in tasks.enumerated() { try await expect(task.value, equals: number % 1000 * 2) }
    expect(sizes.all, equals: [1000])
  }
}

private enum MarkKey: OperationContext.Key {
  static let defaultValue = 0
}

/// All values have the same hash.
struct Colliding: Hashable, Sendable {
  let name: String

  func hash(into hasher: inout Hasher) {}
}
