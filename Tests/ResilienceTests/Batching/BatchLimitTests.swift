import FoundationEssentials
import OperationBatching
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// The number of batches at once, the number of keys that wait, and changes of both.
@Suite(.bounded, .warningsAreIssues) struct BatchLimitTests {
  private let clock = ManualClock()
  private let script = OperationScript<[Int: Result<String, any Error>], any Error>()
  private let asked = Log<[Int]>()

  private func batcher(
    maximumSize: Int = 2,
    concurrent: Int? = nil,
    waiting: Int? = nil
  ) -> OperationBatcher<Int, String> {
    let (script, asked) = (self.script, self.asked)
    return OperationBatcher(
      name: "numbers",
      maximumSize: maximumSize,
      maximumConcurrentBatches: concurrent,
      maximumWaitingKeys: waiting
    ) { keys, context in
      asked.append(keys)
      return try await script.request(keys, in: context)
    }
  }

  private var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    return context
  }

  private func load(_ key: Int, from batcher: OperationBatcher<Int, String>) -> Task<String, any Error> {
    Task.immediate { [context] in try await batcher.load(key, in: context) }
  }

  /// Answers the next request with the digits of its keys.
  private func answer() async throws {
    self.answer(try await self.script.next())
  }

  /// Answers a request with the digits of its keys, which are returned.
  @discardableResult private func answer(_ run: ScriptedRun<[Int: Result<String, any Error>], any Error>) -> [Int] {
    let keys = run.context.askedKeys
    run.succeed(Dictionary(uniqueKeysWithValues: keys.map { ($0, .success("\($0)")) }))
    return keys
  }

  // MARK: - Batches at once

  @Test func `Further batches wait, and are sent in the order in which they were closed`() async throws {
    let batcher = self.batcher(concurrent: 1)
    let tasks = (1...5).map { self.load($0, from: batcher) }
    self.clock.advance(by: .milliseconds(2))
    expect(self.asked.all, equals: [[1, 2]])
    #expect(batcher.snapshot().readyBatches == 2 && batcher.snapshot().waitingKeys == 3)
    for (task, key) in zip(tasks, 1...5) {
      if key % 2 == 1 { try await self.answer() }
      try await expect(task.value, equals: "\(key)")
    }
    expect(self.asked.all, equals: [[1, 2], [3, 4], [5]])
    #expect(batcher.snapshot().sentBatches == 0 && self.clock.sleeperCount() == 0)
  }

  @Test func `A ready batch whose callers have left is not sent`() async throws {
    let batcher = self.batcher(concurrent: 1)
    let tasks = (1...6).map { self.load($0, from: batcher) }
    tasks[2].cancel()
    tasks[3].cancel()
    for task in tasks[2...3] { await #expect(throws: CancellationError.self) { try await task.value } }
    #expect(batcher.snapshot().readyBatches == 1 && batcher.snapshot().waitingKeys == 2)
    try await self.answer()
    _ = try await tasks[0].value
    try await self.answer()
    _ = try await tasks[5].value
    expect(self.asked.all, equals: [[1, 2], [5, 6]])
  }

  @Test func `A request that fails, and one whose callers have left, make room for the next`() async throws {
    let batcher = self.batcher(concurrent: 1)
    let tasks = (1...6).map { self.load($0, from: batcher) }
    try await self.script.next().fail(Refused())
    await #expect(throws: Refused.self) { try await tasks[0].value }
    let second = try await self.script.next()
    tasks[2].cancel()
    tasks[3].cancel()
    try await second.cancelled()
    try await self.answer()
    try await expect(tasks[4].value, equals: "5")
    expect(self.asked.all, equals: [[1, 2], [3, 4], [5, 6]])
    for task in tasks { _ = await task.result }
  }

  @Test func `Ten thousand ready batches of a request that never suspends do not nest without end`() async throws {
    let gate = Gate()
    let batcher = OperationBatcher<Int, Int>(maximumSize: 1, maximumConcurrentBatches: 1) { keys, _ in
      if keys == [0] { try await gate.wait() }
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, .success($0)) })
    }
    let tasks = (0..<10_000).map { key in Task.immediate { try await batcher.load(key) } }
    expect(batcher.snapshot().readyBatches, equals: 9_999)
    gate.open()
    for (key, task) in tasks.enumerated() { try await expect(task.value, equals: key) }
    expect(batcher.snapshot().batches, equals: 10_000)
  }

  // MARK: - Keys that wait

  @Test func `A key above the cap is rejected at once, one that waits already is not`() async throws {
    let notices = NoticeLog()
    let batcher = self.batcher(maximumSize: 10, waiting: 2)
    let tasks = [1, 2, 1].map { self.load($0, from: batcher) }
    var context = self.context
    context.operationNoticeObservers = [notices]
    let error = await #expect(throws: BatchQueueFull.self) { try await batcher.load(3, in: context) }
    #expect(error == BatchQueueFull(name: "numbers", limit: 2) && error?.hasBegun == false)
    expect(error?.description, equals: "The batcher numbers has 2 keys that wait, and no room for another one.")
    expect(notices.descriptions, equals: ["batch.rejected batch.maximum_waiting=2 batch.name=numbers"])
    self.clock.advance(by: .milliseconds(2))
    let fourth = self.load(4, from: batcher)
    try await self.answer()
    for task in tasks { _ = try await task.value }
    self.clock.advance(by: .milliseconds(2))
    try await self.answer()
    try await expect(fourth.value, equals: "4")
    expect(batcher.snapshot().rejections, equals: 1)
  }

  @Test func `A caller that leaves makes room`() async throws {
    let batcher = self.batcher(maximumSize: 10, waiting: 1)
    let first = self.load(1, from: batcher)
    first.cancel()
    _ = await first.result
    let second = self.load(2, from: batcher)
    self.clock.advance(by: .milliseconds(2))
    try await self.answer()
    try await expect(second.value, equals: "2")
  }

  // MARK: - Changes

  @Test func `More batches at once send those that are ready`() async throws {
    let batcher = self.batcher(concurrent: 1)
    let tasks = (1...8).map { self.load($0, from: batcher) }
    batcher.update(maximumConcurrentBatches: 3)
    expect(self.asked.all, equals: [[1, 2], [3, 4], [5, 6]])
    batcher.update(maximumConcurrentBatches: .max)
    expect(self.asked.all.count, equals: 4)
    for _ in 0..<4 { try await self.answer() }
    for task in tasks { _ = try await task.value }
    expect(batcher.snapshot().maximumConcurrentBatches, equals: nil)
  }

  @Test func `The size and the window change for batches that are opened later`() async throws {
    let batcher = self.batcher(maximumSize: 10)
    let first = self.load(1, from: batcher)
    batcher.update(maximumSize: 2, window: .milliseconds(50))
    expect(self.clock.remainingTimes(), equals: [.milliseconds(2)])
    let second = self.load(2, from: batcher)
    expect(self.asked.all, equals: [[1, 2]])
    let third = self.load(3, from: batcher)
    expect(self.clock.remainingTimes(), equals: [.milliseconds(50)])
    self.clock.advance(by: .milliseconds(50))
    try await self.answer()
    try await self.answer()
    for task in [first, second, third] { _ = try await task.value }
  }

  @Test(arguments: [0, -1, Int.min]) func `A limit below one is reported and counts as one`(limit: Int) {
    let batcher = expectWarning(.invalidArgument) { self.batcher(concurrent: limit) }
    expectWarning(.invalidArgument) { _ = self.batcher(waiting: limit) }
    expectWarning(.invalidArgument) {
      _ = OperationBatcher<Int, Int>(maximumPrimedKeys: limit) { _, _ in [:] }
    }
    expect(batcher.snapshot().maximumConcurrentBatches, equals: 1)
  }

  @Test(arguments: [0, -1, Int.min]) func `An impossible update is reported, and changes nothing`(limit: Int) {
    let batcher = self.batcher(concurrent: 7)
    let before = batcher.snapshot()
    expectWarning(.invalidArgument) { #expect(!batcher.update(maximumSize: limit, maximumConcurrentBatches: 8)) }
    expectWarning(.invalidArgument) { #expect(!batcher.update(maximumSize: 9, maximumConcurrentBatches: limit)) }
    expectWarning(.invalidArgument) { #expect(!batcher.update(maximumSize: 9, maximumWaitingKeys: limit)) }
    expectWarning(.invalidArgument) {
      #expect(!batcher.update(maximumSize: 9, window: .seconds(min(limit, -1))))
    }
    expect(batcher.snapshot(), equals: before)
    #expect(batcher.update(maximumSize: 1, window: .zero, maximumConcurrentBatches: 1, maximumWaitingKeys: 1))
    #expect(batcher.snapshot().maximumSize == 1 && batcher.snapshot().window == .zero)
  }

  @Test func `Huge limits and windows do not overflow`() async throws {
    let batcher = OperationBatcher<Int, Int>(
      maximumSize: .max,
      window: Duration(attoseconds: .max),
      maximumConcurrentBatches: .max,
      maximumWaitingKeys: .max,
      maximumPrimedKeys: .max
    ) { keys, _ in Dictionary(uniqueKeysWithValues: keys.map { ($0, .success($0)) }) }
    let task = Task.immediate { [context] in try await batcher.load(1, in: context) }
    batcher.update(maximumSize: 2)
    try await expect(batcher.load(2, in: self.context), equals: 2)
    try await expect(task.value, equals: 1)
  }

  @Test func `A change is a notice, and the snapshot shows what the batcher does`() async throws {
    let notices = NoticeLog()
    var context = self.context
    context.operationNoticeObservers = [notices]
    let batcher = self.batcher(concurrent: 1, waiting: 9)
    batcher.update(maximumSize: 3, in: context)
    batcher.update(maximumSize: 3, window: .milliseconds(2), in: context)
    batcher.update(maximumConcurrentBatches: .max, in: context)
    batcher.update(maximumConcurrentBatches: 1, in: context)
    let others = "batch.maximum_waiting=9 batch.name=numbers batch.window=2 ms"
    let size = "batch.maximum_size=3"
    expect(
      notices.descriptions,
      equals: [
        "batch.limits_changed batch.maximum_batches=1 \(size) batch.maximum_size.previous=2 \(others)",
        "batch.limits_changed batch.maximum_batches.previous=1 \(size) \(others)",
        "batch.limits_changed batch.maximum_batches=1 \(size) \(others)",
      ]
    )
    let tasks = (1...5).map { self.load($0, from: batcher) }
    batcher.prime(9, with: "9")
    let snapshot = batcher.snapshot()
    expect(
      snapshot.description,
      equals: "numbers: 2 keys wait, 0 batches ready, 1 under way; 1 batches of 3 keys, 0 rejected"
    )
    #expect(snapshot.openBatches == 1 && snapshot.largestBatch == 3 && snapshot.primedKeys == 1)
    #expect(snapshot.maximumWaitingKeys == 9 && snapshot.window == .milliseconds(2))
    #expect(try !JSONEncoder().encode(snapshot).isEmpty)
    let gauges: [String: Double] = [
      "batch.waiting_keys": 2, "batch.primed_keys": 1, "batch.open": 1, "batch.ready": 0, "batch.active": 1,
      "batch.batches": 1, "batch.keys": 3, "batch.largest": 3, "batch.rejections": 0,
    ]
    expect(snapshot.gauges, equals: gauges)
    expect("\(batcher)", equals: "Batcher \(snapshot)")
    for task in tasks {
      task.cancel()
      _ = await task.result
    }
    expect(batcher.snapshot().waitingKeys, equals: 0)
  }

  // MARK: - Model

  /// Callers come, leave and are answered at random. Each is answered once, limits hold at each moment, nothing is left.
  @Test(arguments: 0..<60)
  func `Random callers, answers and changes keep to the limits, and leave nothing`(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let (script, asked, clock) = (self.script, self.asked, self.clock)
    var concurrent = Int.random(in: 1...3, using: &random)
    let waiting = Int.random(in: 3...12, using: &random)
    let batcher = self.batcher(maximumSize: 3, concurrent: concurrent, waiting: waiting)
    var (tasks, runs): ([Task<String, any Error>], [ScriptedRun<[Int: Result<String, any Error>], any Error>]) = (
      [], []
    )
    var rejected = 0
    for _ in 0..<200 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        let before = batcher.snapshot()
        let task = self.load(tasks.count, from: batcher)
        tasks.append(task)
        // What begins on another thread meanwhile leaves room, and takes none.
        if batcher.snapshot().rejections > before.rejections {
          #expect(before.waitingKeys >= waiting)
          await #expect(throws: BatchQueueFull.self) { try await task.value }
          rejected += 1
        }
      case 5: clock.advance(by: .milliseconds(2))
      case 6: tasks.randomElement(using: &random)?.cancel()
      case 7:
        concurrent = Int.random(in: concurrent...4, using: &random)
        batcher.update(maximumConcurrentBatches: concurrent)
      default:
        // Only the runs that have begun, so that nothing waits here.
        while runs.count < asked.count { runs.append(try await script.next()) }
        guard let run = runs.first(where: { !$0.isFinished }) else { continue }
        let before = batcher.snapshot().sentBatches
        for key in self.answer(run) { _ = await tasks[key].result }
        #expect(before <= concurrent)
      }
      let snapshot = batcher.snapshot()
      #expect(snapshot.sentBatches <= concurrent && snapshot.waitingKeys <= waiting)
      if snapshot.sentBatches < concurrent { expect(snapshot.readyBatches, equals: 0) }
    }
    batcher.update(maximumConcurrentBatches: .max)
    clock.advance(by: .milliseconds(2))
    for run in runs where !run.isFinished { self.answer(run) }
    // The last batches may begin on other threads after this line.
    let answering = Task { while true { self.answer(try await script.next()) } }
    defer { answering.cancel() }
    for (key, task) in tasks.enumerated() {
      if case .success(let value) = await task.result { expect(value, equals: "\(key)") }
    }
    let snapshot = batcher.snapshot()
    #expect(snapshot.waitingKeys == 0 && snapshot.readyBatches == 0 && snapshot.openBatches == 0)
    expect(snapshot.rejections, equals: rejected)
    expect(Set(asked.all.joined()).count, equals: asked.all.joined().count)
    expect(clock.sleeperCount(), equals: 0)
  }
}
