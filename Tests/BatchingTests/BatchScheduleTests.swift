import OperationBatching
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Random schedules of callers that load keys, leave and are answered, and of changes of the limits, on manual time.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues) struct BatchScheduleTests {
  private typealias Answers = [Int: Result<String, any Error>]

  private struct Schedule {
    let clock = ManualClock()
    let script = OperationScript<Answers, any Error>()
    let asked = Log<[Int]>()
    let batcher: OperationBatcher<Int, String>
    let maximumWaiting: Int
    var maximumConcurrent: Int
    /// The caller of each key, and whether the key could be refused: a batch that ends on another thread makes room.
    var tasks: [(task: Task<String, any Error>, wasFull: Bool)] = []
    /// The requests that have begun and were not answered.
    var requests: [ScriptedRun<Answers, any Error>] = []
    var requestCount = 0

    init(using generator: inout SeededGenerator) {
      self.maximumConcurrent = Int.random(in: 1...3, using: &generator)
      self.maximumWaiting = Int.random(in: 1...8, using: &generator)
      let (script, asked) = (self.script, self.asked)
      self.batcher = OperationBatcher(
        maximumSize: Int.random(in: 1...3, using: &generator),
        maximumConcurrentBatches: self.maximumConcurrent,
        maximumWaitingKeys: self.maximumWaiting
      ) { keys, context in
        asked.append(keys)
        return try await script.run(in: context, with: OperationContinuation { _, _ in })
      }
    }

    mutating func step(using generator: inout SeededGenerator) async throws {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<5: self.load()
      case 5: self.clock.advance(by: .milliseconds(2))
      case 6: self.tasks.randomElement(using: &generator)?.task.cancel()
      case 7:
        self.maximumConcurrent = Int.random(in: self.maximumConcurrent...4, using: &generator)
        self.batcher.update(maximumConcurrentBatches: self.maximumConcurrent)
      default: try await self.answer()
      }
    }

    mutating func load() {
      let isFull = self.batcher.snapshot().waitingKeys >= self.maximumWaiting
      var context = OperationContext()
      context.use(self.clock)
      let task = Task.immediate { [batcher, context, key = self.tasks.count] in
        try await batcher.load(key, in: context)
      }
      self.tasks.append((task, isFull))
    }

    /// Answers the first request that has begun, if there is one, and waits until its callers have their answers.
    mutating func answer() async throws {
      // Only those that have begun, so that nothing waits here.
      while self.requestCount < self.asked.count {
        self.requests.append(try await self.script.next())
        self.requestCount += 1
      }
      self.requests.removeAll(where: \.isFinished)
      guard !self.requests.isEmpty else { return }
      let request = self.requests.removeFirst()
      let keys = self.asked.all[request.number - 1]
      request.succeed(Dictionary(uniqueKeysWithValues: keys.map { ($0, .success("\($0)")) }))
      for key in keys { _ = await self.tasks[key].task.result }
    }

    /// What is wrong with the numbers of the batcher; nil if nothing is.
    var problem: String? {
      let snapshot = self.batcher.snapshot()
      if snapshot.sentBatches > self.maximumConcurrent { return "\(snapshot.sentBatches) batches at once" }
      if snapshot.waitingKeys > self.maximumWaiting { return "\(snapshot.waitingKeys) keys wait" }
      if snapshot.sentBatches < self.maximumConcurrent, snapshot.readyBatches > 0 { return "a batch waits for nothing" }
      return nil
    }

    /// Lets all requests begin and answers them. Returns what is wrong then.
    mutating func end() async throws -> String? {
      self.batcher.update(maximumConcurrentBatches: .max)
      self.clock.advance(by: .milliseconds(2))
      // The last requests may begin on other threads after this line.
      let answering = Task { [script, asked] in
        while true {
          let request = try await script.next()
          request.succeed(
            Dictionary(uniqueKeysWithValues: asked.all[request.number - 1].map { ($0, .success("\($0)")) })
          )
        }
      }
      defer { answering.cancel() }
      for request in self.requests where !request.isFinished { request.fail(Refused()) }
      var rejections = 0
      for (key, caller) in self.tasks.enumerated() {
        switch await caller.task.result {
        case .success(let value):
          if value != "\(key)" { return "the key \(key) got \(value)" }
        case .failure(let error) where error is BatchQueueFull:
          if !caller.wasFull { return "the key \(key) was refused" }
          rejections += 1
        case .failure(let error):
          if !(error is CancellationError || error is Refused) { return "the key \(key) got \(error)" }
        }
      }
      let (snapshot, keys) = (self.batcher.snapshot(), self.asked.all.joined())
      if snapshot.waitingKeys + snapshot.readyBatches + snapshot.openBatches > 0 { return "\(snapshot)" }
      if snapshot.rejections != rejections { return "\(snapshot.rejections) rejections, not \(rejections)" }
      if Set(keys).count != keys.count { return "a key was asked for twice" }
      return self.clock.sleeperCount() == 0 ? nil : "\(self.clock.sleeperCount()) timers"
    }
  }

  @Test(arguments: ModelRuns.seeds)
  func `Batches keep to their limits, each caller is answered once, and nothing is left`(seed: UInt64) async {
    await ModelRuns.check(100, seed: seed) { await Self.failure(of: &$0) }
  }

  private static func failure(of generator: inout SeededGenerator) async -> String? {
    var schedule = Schedule(using: &generator)
    do {
      for _ in 0..<Int.random(in: 1...60, using: &generator) {
        try await schedule.step(using: &generator)
        if let problem = schedule.problem { return problem }
      }
      return try await schedule.end().map { "at the end, \($0)" }
    } catch {
      return "\(error)"
    }
  }
}
