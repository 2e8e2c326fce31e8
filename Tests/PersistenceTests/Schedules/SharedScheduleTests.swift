import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Schedules of several processes that share a storage with leases.
@Suite(.bounded, .warningsAreIssues) struct SharedScheduleTests {
  private let server = Server()
  private let clock = ManualClock()
  private let base: InMemoryStorage
  private let network = NetworkSwitch()
  /// Runs all tasks of all processes on the thread of the test.
  private let executor = SteppedExecutor()

  init() {
    let clock = self.clock
    self.base = InMemoryStorage(elapsed: { clock.elapsed })
    self.network.turnOn()
  }

  private var send: some MutationRequest<Note, String, any Error> {
    Send(server: self.server).scope("s").journaled(as: "send")
  }

  private func process(_ prefix: String) -> (scheduled: ScheduledProgram, storage: SharedStorage) {
    let storage = SharedStorage(self.base)
    let program = ScheduledProgram(
      storage,
      self.clock,
      prefix: prefix,
      network: self.network,
      executor: self.executor
    )
    return (program, storage)
  }

  /// Lets time pass in small steps, in which all processes do what there is to do.
  private func pass(_ seconds: Int) {
    for _ in 0..<(seconds * 10) {
      self.clock.advance(by: .milliseconds(100))
      self.executor.runAll()
    }
  }

  private func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
    let task = Task(executorPreference: self.executor) { try await body() }
    self.executor.runAll()
    return try await task.value
  }

  @Test func `Each time has one call, by one of three processes`() async throws {
    let processes = ["a", "b", "c"].map { self.process($0).scheduled }
    for process in processes {
      try await process.journal.schedule(self.send, with: Note("a"), named: "n", every: .seconds(10))
    }
    try await expect(self.base.keys("journal/"), equals: ["journal/=schedule=/n"])
    self.pass(65)
    let keys = self.server.keys
    expect(keys, equals: (0..<6).map { "a1#\($0)" })
  }

  @Test func `Another process makes the calls of one that was killed, also the one that it was making`() async throws {
    let script = Script()
    let scripted = Send(server: self.server, script: script).scope("s").journaled(as: "send")
    let first = self.process("a")
    try await first.scheduled.journal.schedule(scripted, with: Note("a"), named: "n", every: .seconds(10))
    let second = self.process("b")
    try await second.scheduled.journal.load()
    expect(second.scheduled.journal.schedules.map(\.name), equals: ["n"])
    // The second process has not registered the mutation yet.
    self.pass(11)
    let run = try await script.next()
    expect(self.server.keys, equals: ["a1#0"])
    first.storage.suspend()
    second.scheduled.register(self.send)
    self.pass(70)
    expect(self.server.keys, equals: ["a1#0", "a1#0"] + (1..<8).map { "a1#\($0)" })
    first.scheduled.program.client.stopAutomaticRuns()
    run.fail(Refused())
    self.pass(1)
  }

  @Test func `A process that runs hears of what another one schedules, cancels and removes within a minute`()
    async throws
  {
    let first = self.process("a").scheduled
    let second = self.process("b").scheduled
    second.register(self.send)
    try await second.journal.schedule(self.send, with: Note("own"), named: "own", after: .seconds(10_000))
    try await first.journal.schedule(self.send, with: Note("a"), named: "n", every: .seconds(1_000))
    self.pass(61)
    expect(second.journal.schedules.map(\.name), equals: ["n", "own"])
    #expect(await first.journal.cancelSchedule(named: "n"))
    self.pass(61)
    expect(second.journal.schedules.map(\.name), equals: ["own"])
    // Signing out in the first process concerns what the second has scheduled since.
    try await second.journal.schedule(self.send, with: Note("b"), named: "late", after: .seconds(1_000))
    #expect(await first.journal.removeAll())
    #expect(try await self.base.keys("journal/").isEmpty)
    self.pass(61)
    #expect(second.journal.entries.isEmpty)
    #expect(self.server.requests.isEmpty)
  }
}
