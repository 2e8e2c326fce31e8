import FoundationEssentials
import OperationCore
import OperationEvents
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Calls that are made at a time, and again and again.
@Suite(.bounded, .warningsAreIssues) struct ScheduleTests {
  private let server = Server()
  private let script = Script()
  private let clock = ManualClock()
  private let storage = InMemoryStorage()

  private var send: some MutationRequest<Note, String, any Error> {
    Send(server: self.server).scope("s").journaled(as: "send")
  }

  /// A mutation whose runs the test ends.
  private var scripted: some MutationRequest<Note, String, any Error> {
    Send(server: self.server, script: self.script).scope("s").journaled(as: "send")
  }

  private func start() -> ScheduledProgram { ScheduledProgram(self.storage, self.clock) }

  // MARK: - Once

  @Test func `A call is made at its time, and does not hold its scope before`() async throws {
    let scheduled = self.start()
    let schedule = try await scheduled.journal.schedule(self.send, with: Note("later"), at: Date(100))
    expect(schedule.name, equals: "k1")
    expect(schedule.entryID, equals: "k1")
    expect(schedule.waitsFor, equals: .time)
    let entry = try #require(scheduled.journal.entries.first)
    expect(entry.status, equals: .scheduled)
    expect(entry.id, equals: "k1")
    expect(entry.schedule, equals: "k1")
    expect(entry.dueAt, equals: Date(100))
    expect(entry.acceptedAt, equals: Date(0))
    expect(scheduled.journal.texts, equals: ["later"])
    // Another call of its scope.
    let store = scheduled.program.client.store(for: self.send)
    _ = try await store.mutate(with: Note("now"))
    expect(self.server.done, equals: ["now"])
    await scheduled.pass(99)
    expect(self.server.done, equals: ["now"])
    await scheduled.pass(1)
    expect(self.server.done, equals: ["now", "later"])
    expect(self.server.keys, equals: ["k2", "k1"])
    #expect(scheduled.journal.entries.isEmpty)
    #expect(scheduled.journal.schedules.isEmpty)
    #expect(try await self.storage.keys().isEmpty)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `A call that is scheduled for a time that has passed is made at once`() async throws {
    let scheduled = self.start()
    try await scheduled.journal.schedule(self.send, with: Note("a"), at: Date(-5))
    await scheduled.journal.settled()
    expect(self.server.done, equals: ["a"])
  }

  @Test func `A call that was scheduled is made by a later start, also if its time has passed`() async throws {
    let first = self.start()
    try await first.journal.schedule(self.send, with: Note("a"), named: "early", after: .seconds(50))
    try await first.journal.schedule(self.send, with: Note("b"), named: "late", after: .seconds(500))
    first.program.client.stopAutomaticRuns()
    self.clock.advance(by: .seconds(200))
    #expect(self.server.done.isEmpty)
    let second = ScheduledProgram(self.storage, self.clock, prefix: "second")
    second.register(self.send)
    expect(second.journal.schedules.map(\.name), equals: ["early", "late"])
    expect(second.journal.schedules.map(\.waitsFor), equals: [.resumption, .resumption])
    await second.journal.resume()
    await second.journal.settled()
    expect(self.server.done, equals: ["a"])
    await second.pass(300)
    expect(self.server.done, equals: ["a", "b"])
    expect(self.server.keys, equals: ["k1", "k2"])
    #expect(try await self.storage.keys().isEmpty)
  }

  @Test func `A name is unique, and a policy says which of two stays`() async throws {
    let scheduled = self.start()
    func add(_ text: String, _ seconds: Int, _ policy: JournalSchedule.ExistingPolicy) async throws -> JournalSchedule {
      try await scheduled.journal.schedule(
        self.send,
        with: Note(text),
        named: "n",
        after: .seconds(seconds),
        ifScheduled: policy
      )
    }
    try await expect(add("a", 10, .replace).next, equals: 10)
    try await expect(add("b", 20, .keep).next, equals: 10)
    expect(scheduled.journal.texts, equals: ["a"])
    try await expect(add("c", 30, .update).next, equals: 10)
    expect(scheduled.journal.texts, equals: ["c"])
    let replaced = try await add("d", 40, .replace)
    expect(replaced.next, equals: 40)
    expect(replaced.entryID, equals: "k4")
    expect(scheduled.journal.entries.map(\.id), equals: ["k4"])
    await scheduled.pass(39)
    #expect(self.server.done.isEmpty)
    await scheduled.pass(1)
    expect(self.server.done, equals: ["d"])
  }

  // MARK: - Again and again

  @Test func `A recurring call is made at each time, with a key of its own, and does not drift`() async throws {
    let scheduled = self.start()
    let schedule = try await scheduled.journal.schedule(
      self.send,
      with: Note("a"),
      named: "daily",
      every: .seconds(100)
    )
    expect(schedule.interval, equals: .seconds(100))
    expect(schedule.next, equals: 100)
    await scheduled.pass(30, steps: 11)
    expect(self.server.keys, equals: ["k1#0", "k1#1", "k1#2"])
    expect(scheduled.journal.schedules.map(\.next), equals: [400])
    try await expect(self.storage.keys(), equals: ["journal/=schedule=/daily"])
    // It goes on with its times when the program starts again, and says so.
    scheduled.program.client.stopAutomaticRuns()
    let second = ScheduledProgram(self.storage, self.clock, prefix: "second")
    let again = try await second.journal.schedule(self.send, with: Note("b"), named: "daily", every: .seconds(100))
    expect(again.next, equals: 400)
    expect(again.entryID, equals: "k1")
    await second.pass(70)
    expect(self.server.keys.last, equals: "k1#3")
    expect(self.server.requests.map(\.text), equals: ["a", "a", "a", "b"])
    // Another interval begins anew, with other keys.
    try await second.journal.schedule(self.send, with: Note("b"), named: "daily", every: .seconds(10))
    await second.pass(10)
    expect(self.server.keys.last, equals: "second2#0")
    #expect(await second.journal.cancelSchedule(named: "daily"))
    #expect(await !second.journal.cancelSchedule(named: "daily"))
    await second.pass(1_000)
    expect(self.server.requests.count, equals: 5)
    expect(self.clock.sleeperCount(), equals: 0)
    #expect(try await self.storage.keys().isEmpty)
  }

  @Test func `A first time can be given`() async throws {
    let scheduled = self.start()
    try await scheduled.journal.schedule(
      self.send,
      with: Note("a"),
      named: "n",
      every: .seconds(100),
      startingAt: Date(0)
    )
    await scheduled.journal.settled()
    expect(self.server.keys, equals: ["k1#0"])
    expect(scheduled.journal.schedules.map(\.next), equals: [100])
  }

  @Test(arguments: [
    (JournalSchedule.MissedTimes.once, ["k1#3"], 500.0), (.each, ["k1#0", "k1#1", "k1#2", "k1#3"], 500),
    (.skip, ["k1#3"], 500), (.skip(after: .seconds(20)), [], 500),
  ])
  func `Times that passed without a program are missed by a policy`(
    missed: JournalSchedule.MissedTimes,
    keys: [String],
    next: Double
  ) async throws {
    let first = self.start()
    try await first.journal.schedule(self.send, with: Note("a"), named: "n", every: .seconds(100), missed: missed)
    first.program.client.stopAutomaticRuns()
    self.clock.advance(by: .seconds(430))
    let second = self.start()
    second.register(self.scripted)
    await second.journal.resume()
    for _ in keys { try await self.script.next().succeed("ok") }
    await second.journal.settled()
    expect(self.server.keys, equals: keys)
    expect(second.journal.schedules.map(\.next), equals: [next])
    expect(second.journal.schedules.map(\.missedTimes), equals: [missed])
    self.clock.advance(by: .seconds(70))
    try await self.script.next().succeed("ok")
    await second.journal.settled()
    expect(self.server.keys, equals: keys + ["k1#4"])
  }

  @Test func `Of more than a thousand missed times the first ones are skipped`() async throws {
    let first = self.start()
    try await first.journal.schedule(self.send, with: Note("a"), named: "n", every: .seconds(1), missed: .each)
    first.program.client.stopAutomaticRuns()
    self.clock.advance(by: .seconds(5_000))
    let second = self.start()
    let scripted = Send(server: self.server, script: self.script).journaled(as: "send")
    second.register(scripted)
    await second.journal.resume()
    let run = try await self.script.next()
    expect(self.server.keys, equals: ["k1#4000"])
    expect(second.journal.schedules.map(\.waitsFor), equals: [.lastCall])
    second.program.client.stopAutomaticRuns()
    run.succeed("ok")
    await second.journal.settled()
  }

  @Test(arguments: [
    (JournalSchedule.MissedTimes.once, ["k1#0", "k1#2", "k1#3"]), (.each, ["k1#0", "k1#1", "k1#2"]),
    (.skip(after: .seconds(20)), ["k1#0", "k1#3", "k1#4"]),
  ])
  func `A call is not overtaken by the next one of its schedule`(
    missed: JournalSchedule.MissedTimes,
    keys: [String]
  ) async throws {
    let scheduled = self.start()
    try await scheduled.journal.schedule(
      self.scripted,
      with: Note("a"),
      named: "n",
      every: .seconds(100),
      missed: missed
    )
    self.clock.advance(by: .seconds(100))
    let first = try await self.script.next()
    self.clock.advance(by: .seconds(230))
    expect(self.server.keys, equals: ["k1#0"])
    expect(scheduled.journal.schedules.map(\.waitsFor), equals: [.lastCall])
    expect(scheduled.journal.statuses, equals: [.running, .scheduled])
    first.succeed("ok")
    if missed.isSkipping {
      await scheduled.journal.settled()
      self.clock.advance(by: .seconds(70))
    }
    try await self.script.next().succeed("ok")
    if missed != .each {
      await scheduled.journal.settled()
      self.clock.advance(by: .seconds(100))
    }
    try await self.script.next().succeed("ok")
    await scheduled.journal.settled()
    expect(Array(self.server.keys.prefix(3)), equals: keys)
  }

  @Test func `A schedule is part of the state, of the explanation and of the text of its entry`() async throws {
    let scheduled = self.start()
    let store = scheduled.program.client.store(for: self.send)
    try await scheduled.journal.schedule(self.send, with: Note("a"), named: "n", every: .seconds(60))
    let call = try #require(store.state.journaledCalls.first)
    expect(call.status, equals: .scheduled)
    expect(call.arguments, equals: Note("a"))
    let text = "\(store.explain())"
    #expect(text.contains("0 calls stored"), "\(text)")
    #expect(text.contains("scheduled as n: send, every 1 min, next"), "\(text)")
    #expect(text.contains("waits for its time"), "\(text)")
    let entry = "\(try #require(scheduled.journal.entries.first))"
    #expect(entry.contains("send, scheduled"), "\(entry)")
    #expect(entry.contains("of the schedule n, due"), "\(entry)")
    #expect(await scheduled.journal.remove("k1"))
    #expect(store.state.journaledCalls.isEmpty)
    #expect(scheduled.journal.entries.isEmpty)
    #expect(try await self.storage.keys().isEmpty)
  }

  // MARK: - Misuse

  @Test func `Misuse is reported or thrown`() async throws {
    let scheduled = self.start()
    await #expect {
      try await scheduled.journal.schedule(Send(server: self.server), with: Note("a"), at: Date(1))
    } throws: { ($0 as? JournalError)?.code == .notAccepted }
    let excluding = Send(server: self.server).journaled(as: "send", excluding: .where { $0.text == "secret" })
    await #expect { try await scheduled.journal.schedule(excluding, with: Note("secret"), at: Date(1)) } throws: {
      ($0 as? JournalError)?.code == .notAccepted
    }
    try await expectWarning(.invalidArgument) {
      try await scheduled.journal.schedule(self.send, with: Note("a"), named: "n", every: .zero)
    }
    expect(scheduled.journal.schedules.map(\.interval), equals: [.seconds(1)])
    try await expectWarning(.invalidArgument) {
      try await scheduled.journal.schedule(self.send, with: Note("a"), named: "n", after: .seconds(-1))
    }
    expectWarning(.invalidArgument) { _ = JournalSchedule.MissedTimes.skip(after: .seconds(-1)) }
  }
}

extension JournalSchedule.MissedTimes {
  fileprivate var isSkipping: Bool { self != .once && self != .each }
}
