import FoundationEssentials
import OperationBackoff
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Random mixtures of time, restarts, kills, failures and changes of schedules, against what the policies promise.
@Suite(.bounded) struct ScheduleModelTests {
  /// What a server has received of one schedule.
  private final class Times: Sendable {
    private let state = Mutex<(begun: [String], done: [String], fails: Bool)>(([], [], false))

    var begun: [String] { self.state.withLock { $0.begun } }
    var done: [String] { self.state.withLock { $0.done } }

    func fail(_ fails: Bool) { self.state.withLock { $0.fails = fails } }

    func receive(_ key: String) throws {
      try self.state.withLock { state in
        state.begun.append(key)
        if state.fails { throw Refused() }
        state.done.append(key)
      }
    }
  }

  private struct Work: MutationRequest {
    let times: Times
    let path: OperationPath = ["work"]

    func mutate(
      isolation: isolated (any Actor)?,
      with arguments: Note,
      in context: OperationContext,
      with continuation: OperationContinuation<String, any Error>
    ) async throws -> String {
      try self.times.receive(context.operationIdempotencyKey ?? "")
      return "ok"
    }
  }

  private struct Model {
    let clock = ManualClock()
    let times = Times()
    let missed: JournalSchedule.MissedTimes
    var storage: InMemoryStorage
    var scheduled: ScheduledProgram
    let network = NetworkSwitch()
    /// Runs all tasks on the thread of the test, so that a seed gives the same run again.
    let executor = SteppedExecutor()

    init(_ missed: JournalSchedule.MissedTimes) {
      self.missed = missed
      self.network.turnOn()
      self.storage = InMemoryStorage()
      self.scheduled = ScheduledProgram(
        self.storage,
        self.clock,
        network: self.network,
        attemptsBeforeDeadLetter: .max,
        executor: self.executor
      )
    }

    /// Lets time pass, and does what there is to do after each second, or some of them.
    func pass(_ seconds: Int, by step: Int = 1) {
      for _ in stride(from: 0, to: seconds, by: step) {
        self.clock.advance(by: .seconds(step))
        self.executor.runAll()
      }
    }

    var work: some MutationRequest<Note, String, any Error> {
      Work(times: self.times).scope("s").journaled(as: "send")
    }

    mutating func restart(prefix: String, entries: [StorageEntry]) {
      self.scheduled.program.client.stopAutomaticRuns()
      self.storage = InMemoryStorage(entries: entries)
      self.scheduled = ScheduledProgram(
        self.storage,
        self.clock,
        prefix: prefix,
        network: self.network,
        attemptsBeforeDeadLetter: .max,
        executor: self.executor
      )
    }
  }

  @Test(
    arguments: 0..<ModelRuns.count(2, parts: 3),
    [JournalSchedule.MissedTimes.once, .each, .skip(after: .seconds(5))]
  )
  func `Each time has at most one call that succeeds, and none is missed that must not be`(
    seed: Int,
    missed: JournalSchedule.MissedTimes
  ) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var model = Model(missed)
    try await model.scheduled.journal.schedule(
      model.work,
      with: Note("a"),
      named: "n",
      every: .seconds(10),
      missed: missed
    )
    await OperationWarning.withReporter { _ in
    } operation: {
      for step in 0..<60 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
          // A restart or a kill: what is stored is all that is left.
          let entries = (try? await model.storage.entries(withPrefix: "")) ?? []
          if Bool.random(using: &random) { model.clock.advance(by: .seconds(Int.random(in: 0..<40, using: &random))) }
          model.restart(prefix: "p\(step)-", entries: entries)
          if Bool.random(using: &random) { model.clock.advance(by: .seconds(Int.random(in: 0..<40, using: &random))) }
          model.scheduled.register(model.work)
        case 1:
          model.network.turnOff()
          model.network.change()
        case 2: model.network.turnOn()
        case 3: model.times.fail(true)
        case 4: model.times.fail(false)
        case 5:
          _ = try? await model.scheduled.journal.schedule(
            model.work,
            with: Note("a"),
            named: "n",
            every: .seconds(10),
            missed: missed
          )
        default: model.pass(Int.random(in: 1..<25, using: &random))
        }
        model.executor.runAll()
      }
      // In the end all is well, for long enough to catch up.
      model.network.turnOn()
      model.times.fail(false)
      model.pass(600, by: 5)
    }
    let done = Set(model.times.done).compactMap { Int($0.dropFirst("k1#".count)) }.sorted()
    let date = model.clock.now().timeIntervalSinceReferenceDate
    let count = Int(date / 10)
    #expect(Set(model.times.begun).allSatisfy { $0.hasPrefix("k1#") })
    // A kill during the loss of the answer may repeat a call with its key; time passes in order.
    let first = model.times.done.enumerated().filter { model.times.done.firstIndex(of: $0.element) == $0.offset }
    expect(first.map(\.element), equals: done.map { "k1#\($0)" })
    expect(done.last, equals: count - 1)
    if missed == .each { expect(done, equals: Array(0..<count)) }
    expect(model.scheduled.journal.schedules.map(\.next), equals: [Double(count + 1) * 10])
    try await expect(model.storage.keys(), equals: ["journal/=schedule=/n"])
  }
}
