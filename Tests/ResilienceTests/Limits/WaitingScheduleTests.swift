import OperationCore
import OperationLimits
import OperationTesting
import TestFixtures
import Testing

/// Random schedules of tasks that wait for a whole limit, are cancelled, wait too long and return permits, on manual
/// time.
///
/// A task begins on its caller's thread, and a decision is made before the call that causes it returns. So the limit
/// has to match the model after each step.
@Suite(.bounded, .warningsAreIssues) struct WaitingScheduleTests {
  private enum Fate: Hashable {
    case waiting, admitted, rejected, cancelled

    init(_ result: Result<Void, any Error>) {
      switch result {
      case .success: self = .admitted
      case .failure(let error): self = error is OperationRejected ? .rejected : .cancelled
      }
    }
  }

  /// The model: the fate of each run, and the waiters in order with the times after which they leave.
  private struct Model {
    let permits: Int
    let maximumWaiting: Int
    var inUse = 0
    var fates: [Fate] = []
    var waiting: [(run: Int, due: Duration?)] = []

    mutating func arrive(at now: Duration, due: Duration?) {
      let run = self.fates.count
      if self.inUse < self.permits {
        self.inUse += 1
        self.fates.append(.admitted)
      } else if self.waiting.count >= self.maximumWaiting || due.map({ $0 <= now }) == true {
        self.fates.append(.rejected)
      } else {
        self.fates.append(.waiting)
        self.waiting.append((run, due))
      }
    }

    mutating func cancel(_ run: Int) {
      guard self.fates[run] == .waiting else { return }
      self.fates[run] = .cancelled
      self.waiting.removeAll { $0.run == run }
    }

    mutating func release() {
      self.inUse -= 1
      guard !self.waiting.isEmpty else { return }
      self.inUse += 1
      self.fates[self.waiting.removeFirst().run] = .admitted
    }

    mutating func expire(at now: Duration) {
      for waiter in self.waiting where waiter.due.map({ $0 <= now }) == true { self.fates[waiter.run] = .rejected }
      self.waiting.removeAll { $0.due.map { $0 <= now } == true }
    }
  }

  /// One schedule, the limit that it uses, and the model of the limit.
  private struct Schedule {
    let clock = ManualClock()
    let limit: ConcurrencyLimit
    var model: Model
    var tasks: [Task<Void, any Error>] = []

    init(using generator: inout SeededGenerator) {
      let permits = Int.random(in: 1...3, using: &generator)
      let queue = Int.random(in: 0...5, using: &generator)
      self.limit = ConcurrencyLimit(permits, queue: queue)
      self.model = Model(permits: permits, maximumWaiting: queue)
    }

    var context: OperationContext {
      var context = OperationContext()
      context.use(self.clock)
      return context
    }

    mutating func step(using generator: inout SeededGenerator) {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<4:
        let wait = generator.wait(upTo: 4)
        self.model.arrive(at: self.clock.elapsed, due: wait.map { self.clock.elapsed + $0 })
        let (limit, context) = (self.limit, self.context)
        self.tasks.append(Task.immediate { try await limit.waitForPermit(in: context, maximumWait: wait) })
      case 4..<6:
        guard let run = self.tasks.indices.randomElement(using: &generator) else { return }
        self.model.cancel(run)
        self.tasks[run].cancel()
      case 6..<9:
        self.release(after: Bool.random(using: &generator) ? .succeeded : .cancelled)
      default:
        self.clock.advance(by: .seconds(Int.random(in: 0...3, using: &generator)))
        self.model.expire(at: self.clock.elapsed)
      }
    }

    mutating func release(after use: OperationPermitUse) {
      guard self.model.inUse > 0 else { return }
      self.model.release()
      self.limit.returnPermit((), after: use, in: self.context)
    }

    /// A difference from the model; nil if there is none.
    var difference: String? {
      guard self.limit.activeCount == self.model.inUse else {
        return "\(self.limit.activeCount) permits in use, not \(self.model.inUse)"
      }
      guard self.limit.waitingCount == self.model.waiting.count else {
        return "\(self.limit.waitingCount) runs wait, not \(self.model.waiting.count)"
      }
      let hasDues = self.model.waiting.contains { $0.due != nil }
      guard self.clock.sleeperCount() == (hasDues ? 1 : 0) else { return "\(self.clock.sleeperCount()) timers" }
      return nil
    }

    /// Ends all runs. Returns what differs from the model then.
    mutating func end() async -> String? {
      while self.model.inUse > 0 { self.release(after: .succeeded) }
      for (run, task) in self.tasks.enumerated() {
        let fate = Fate(await task.result)
        guard fate == self.model.fates[run] else { return "run \(run) was \(fate), not \(self.model.fates[run])" }
      }
      return self.difference
    }
  }

  @Test(arguments: ModelRuns.seeds)
  func `Tasks that wait, leave and return permits match a model after each step`(seed: UInt64) async {
    await ModelRuns.check(200, seed: seed) { await Self.failure(of: &$0) }
  }

  private static func failure(of generator: inout SeededGenerator) async -> String? {
    var schedule = Schedule(using: &generator)
    for _ in 0..<Int.random(in: 1...30, using: &generator) {
      schedule.step(using: &generator)
      if let difference = schedule.difference { return difference }
    }
    return await schedule.end().map { "at the end, \($0)" }
  }
}
