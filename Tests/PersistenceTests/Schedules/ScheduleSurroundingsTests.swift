import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// What scheduled calls wait for, and what ends them.
@Suite(.bounded, .warningsAreIssues) struct ScheduleSurroundingsTests {
  private let server = Server()
  private let script = Script()
  private let clock = ManualClock()
  private let storage = TestStorage()
  private let network = NetworkSwitch()

  private var send: some MutationRequest<Note, String, any Error> {
    Send(server: self.server).scope("s").journaled(as: "send")
  }

  private var scripted: some MutationRequest<Note, String, any Error> {
    Send(server: self.server, script: self.script).scope("s").journaled(as: "send")
  }

  private func start(network: NetworkSwitch? = nil, attempts: Int = 5) -> ScheduledProgram {
    ScheduledProgram(self.storage, self.clock, network: network, attemptsBeforeDeadLetter: attempts)
  }

  /// Leaves what a program has scheduled that was killed.
  private func leave(
    _ mutation: some MutationRequest<Note, String, any Error>,
    every seconds: Int? = nil,
    missed: JournalSchedule.MissedTimes = .once
  ) async throws {
    let first = self.start()
    if let seconds {
      try await first.journal.schedule(mutation, with: Note("a"), named: "n", every: .seconds(seconds), missed: missed)
    } else {
      try await first.journal.schedule(mutation, with: Note("a"), named: "n", after: .seconds(100))
    }
    first.program.client.stopAutomaticRuns()
  }

  // MARK: - Conditions

  @Test func `A call waits for its condition, outside of its scope, and begins when it holds`() async throws {
    let scheduled = self.start()
    let condition = NetworkSwitch()
    let mutation = self.send.scheduled(onlyWhen: self.network).scheduled(onlyWhen: condition)
    try await scheduled.journal.schedule(mutation, with: Note("a"), after: .seconds(100))
    scheduled.register(mutation)
    await scheduled.pass(200)
    expect(scheduled.journal.schedules.map(\.waitsFor), equals: [.condition])
    // Other calls of its scope, and of the mutation, do not wait.
    let store = scheduled.program.client.store(for: mutation)
    _ = try await store.mutate(with: Note("b"))
    self.network.turnOn()
    expect(self.server.done, equals: ["b"])
    condition.turnOn()
    await scheduled.journal.settled()
    expect(self.server.done, equals: ["b", "a"])
    expect(condition.observerCount, equals: 0)
    expect(self.network.observerCount, equals: 0)
    #expect(try await self.storage.keys().isEmpty)
  }

  @Test func `A schedule that is cancelled waits for no condition`() async throws {
    let scheduled = self.start()
    let mutation = self.send.scheduled(onlyWhen: self.network)
    try await scheduled.journal.schedule(mutation, with: Note("a"), named: "n", after: .zero)
    expect(self.network.observerCount, equals: 1)
    #expect(await scheduled.journal.cancelSchedule(named: "n"))
    expect(self.network.observerCount, equals: 0)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `The condition of the journal counts as well, also after a restart`() async throws {
    try await self.leave(self.send)
    let second = self.start(network: self.network)
    second.register(self.send)
    await second.pass(150)
    expect(second.journal.schedules.map(\.waitsFor), equals: [.condition])
    self.network.turnOn()
    await second.journal.settled()
    expect(self.server.done, equals: ["a"])
  }

  // MARK: - Registration

  @Test func `A process that has not registered the mutation leaves it to others, and says so`() async throws {
    self.network.turnOn()
    try await self.leave(self.send)
    let second = self.start(network: self.network)
    await second.pass(100)
    expect(second.journal.schedules.map(\.waitsFor), equals: [.registration])
    expect(second.journal.statuses, equals: [.scheduled])
    let warnings = await warningCodes { await second.pass(200) }
    expect(warnings, equals: [.journalNameUnregistered])
    second.register(self.send)
    await second.journal.settled()
    expect(self.server.keys, equals: ["k1"])
  }

  @Test func `A renamed mutation makes what was scheduled with its earlier name`() async throws {
    try await self.leave(self.send, every: 100)
    let second = self.start()
    let renamed = Send(server: self.server).scope("t").journaled(as: "post", aliases: ["send"])
    second.journal.register(renamed, as: "post")
    await second.journal.resume()
    await second.pass(100)
    expect(self.server.keys, equals: ["k1#0"])
  }

  // MARK: - Clocks

  @Test func `A clock that is set forward is noticed within a minute, and one that is set back costs one interval`()
    async throws
  {
    let scheduled = self.start()
    try await scheduled.journal.schedule(self.send, with: Note("a"), named: "n", every: .seconds(1_000))
    self.clock.setDate(Date(5_500))
    await scheduled.pass(60)
    expect(self.server.keys, equals: ["k1#4"])
    self.clock.setDate(Date(100))
    await scheduled.pass(1_000)
    expect(self.server.keys, equals: ["k1#4"])
    #expect(scheduled.journal.schedules.allSatisfy { $0.next <= 1_100 + 60 })
    await scheduled.pass(60)
    expect(self.server.keys, equals: ["k1#4", "k1#5"])
  }

  @Test func `The time after which a call is made is the longest one, and a date is kept`() async throws {
    let scheduled = self.start()
    try await scheduled.journal.schedule(self.send, with: Note("after"), after: .seconds(500))
    try await scheduled.journal.schedule(self.send, with: Note("at"), at: Date(500))
    self.clock.setDate(Date(-100_000))
    await scheduled.pass(560)
    expect(self.server.done, equals: ["after"])
    self.clock.setDate(Date(600))
    await scheduled.pass(60)
    expect(self.server.done, equals: ["after", "at"])
  }

  // MARK: - Failures

  @Test func `The time to expire counts from when a call is due`() async throws {
    let mutation = self.send.expires(after: .seconds(60))
    try await self.leave(mutation)
    self.clock.advance(by: .seconds(130))
    let second = self.start()
    second.register(mutation)
    await second.journal.resume()
    await second.journal.settled()
    expect(self.server.done, equals: ["a"])
    try await self.leave(mutation)
    self.clock.advance(by: .seconds(161))
    let third = self.start()
    third.register(mutation)
    let warnings = await warningCodes {
      await third.journal.resume()
      await third.journal.settled()
    }
    expect(warnings, equals: [.journalCallExpired])
    expect(third.journal.statuses, equals: [.expired])
    expect(self.server.done, equals: ["a"])
  }

  @Test func `A call that was given up stays until the next one takes its place`() async throws {
    self.network.turnOn()
    let scheduled = self.start(network: self.network, attempts: 2)
    let mutation = self.scripted.deadLetters(.letPass)
    try await scheduled.journal.schedule(mutation, with: Note("a"), named: "n", every: .seconds(100))
    let warnings = try await warningCodes {
      self.clock.advance(by: .seconds(100))
      try await self.script.next().fail(Refused())
      await scheduled.journal.settled()
      self.clock.advance(by: .seconds(10))
      try await self.script.next().fail(Refused())
      await scheduled.journal.settled()
      expect(scheduled.journal.statuses, equals: [.deadLetter, .scheduled])
      self.clock.advance(by: .seconds(89))
      expect(scheduled.journal.entries.map(\.id), equals: ["k1#0", "k1"])
      self.clock.advance(by: .seconds(1))
      try await self.script.next().succeed("ok")
      await scheduled.journal.settled()
    }
    expect(warnings, equals: [.journalDeadLetter])
    expect(self.server.keys, equals: ["k1#0", "k1#0", "k1#1"])
    expect(scheduled.journal.statuses, equals: [.scheduled])
    try await expect(self.storage.keys(), equals: ["journal/=schedule=/n"])
  }

  @Test func `A journal that resumes by hand makes a failed call again at the next time`() async throws {
    let scheduled = self.start()
    try await scheduled.journal.schedule(self.scripted, with: Note("a"), named: "n", every: .seconds(100))
    let warnings = try await warningCodes {
      self.clock.advance(by: .seconds(100))
      try await self.script.next().fail(Refused())
      await scheduled.journal.settled()
    }
    expect(warnings, equals: [.journalCallFailed])
    self.clock.advance(by: .seconds(99))
    expect(self.server.keys, equals: ["k1#0"])
    self.clock.advance(by: .seconds(1))
    try await self.script.next().succeed("ok")
    // The time that has passed meanwhile.
    try await self.script.next().succeed("ok")
    await scheduled.journal.settled()
    expect(self.server.keys, equals: ["k1#0", "k1#0", "k1#1"])
    expect(scheduled.journal.schedules.map(\.next), equals: [300])
  }

  @Test func `A call that the storage refuses is tried again, and made once`() async throws {
    let scheduled = self.start()
    try await scheduled.journal.schedule(self.send, with: Note("a"), named: "n", every: .seconds(1_000))
    self.storage.failToWrite(true)
    let warnings = await warningCodes { await scheduled.pass(1_100) }
    expect(warnings, equals: [.storageFailed])
    #expect(self.server.keys.isEmpty)
    expect(scheduled.journal.schedules.map(\.waitsFor), equals: [.storage])
    self.storage.failToWrite(false)
    await scheduled.pass(60)
    expect(self.server.keys, equals: ["k1#0"])
    expect(scheduled.journal.schedules.map(\.next), equals: [2_000])
  }

  @Test func `A call that was stored although its write has failed is made once`() async throws {
    let lossy = LossyStorage()
    let scheduled = ScheduledProgram(lossy, self.clock)
    try await scheduled.journal.schedule(self.send, with: Note("a"), named: "n", every: .seconds(100))
    lossy.loseNextAnswer()
    let warnings = await warningCodes { await scheduled.pass(100) }
    await scheduled.pass(60)
    expect(self.server.keys, equals: ["k1#0"])
    expect(scheduled.journal.schedules.map(\.next), equals: [200])
    #expect(warnings == [.storageFailed] || warnings.isEmpty)
    await scheduled.pass(40)
    expect(self.server.keys, equals: ["k1#0", "k1#1"])
  }

  // MARK: - Ends

  @Test func `A shutdown accepts no further call, and the next start makes it`() async throws {
    let scheduled = self.start()
    try await scheduled.journal.schedule(self.scripted, with: Note("a"), named: "n", every: .seconds(100))
    self.clock.advance(by: .seconds(100))
    let run = try await self.script.next()
    scheduled.program.client.stopAutomaticRuns()
    self.clock.advance(by: .seconds(100))
    run.succeed("ok")
    await scheduled.journal.settled()
    self.clock.advance(by: .seconds(100))
    expect(self.server.keys, equals: ["k1#0"])
    try await expect(self.storage.keys(), equals: ["journal/=schedule=/n"])
    let second = self.start()
    second.register(self.send)
    await second.journal.resume()
    await second.journal.settled()
    expect(self.server.keys, equals: ["k1#0", "k1#2"])
  }

  @Test func `A process that was killed while a call was made leaves it to the next, with its key`() async throws {
    let scheduled = self.start()
    try await scheduled.journal.schedule(self.scripted, with: Note("a"), named: "n", every: .seconds(100))
    self.clock.advance(by: .seconds(100))
    let run = try await self.script.next()
    // What is stored at that moment.
    let entries = try await self.storage.entries(withPrefix: "")
    scheduled.program.client.stopAutomaticRuns()
    run.succeed("ok")
    await scheduled.journal.settled()
    let second = ScheduledProgram(InMemoryStorage(entries: entries), self.clock)
    second.register(self.send)
    await second.journal.resume()
    await second.journal.settled()
    expect(self.server.keys, equals: ["k1#0", "k1#0"])
    expect(self.server.done, equals: ["a"])
    expect(second.journal.schedules.map(\.next), equals: [200])
  }

  @Test func `Signing out removes what is scheduled, also where nothing has used the journal`() async throws {
    try await self.leave(self.send, every: 100)
    let second = Program(self.storage, clock: self.clock)
    try await second.client.clearEverything()
    #expect(try await self.storage.keys("journal/").isEmpty)
    let third = self.start()
    try await third.journal.schedule(self.send, with: Note("a"), named: "a", every: .seconds(100))
    let other = Send(server: self.server, path: ["other"]).journaled(as: "other")
    try await third.journal.schedule(other, with: Note("b"), named: "b", every: .seconds(100))
    #expect(await third.journal.removeAll(named: ["send"]))
    expect(third.journal.schedules.map(\.name), equals: ["b"])
    #expect(await third.journal.removeAll())
    #expect(third.journal.entries.isEmpty)
    await third.pass(200)
    #expect(self.server.requests.isEmpty)
    #expect(try await self.storage.keys("journal/").isEmpty)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `What is being scheduled or accepted while a user signs out does not come back`() async throws {
    let gated = TestStorage(writes: false)
    let scheduled = ScheduledProgram(gated, self.clock)
    let scheduling = Task.immediate {
      try await scheduled.journal.schedule(self.send, with: Note("a"), named: "n", every: .seconds(100))
    }
    try await gated.writing.arrivals(count: 1)
    let removal = Task.immediate { await scheduled.journal.removeAll() }
    gated.writing.open()
    await #expect { try await scheduling.value } throws: { ($0 as? JournalError)?.code == .removed }
    #expect(await removal.value)
    #expect(try await gated.base.keys("journal/").isEmpty)
  }

  @Test func `What another process schedules with the name after a user has signed out stays`() async throws {
    let slow = SlowAcceptance(self.storage.base, of: "journal/=")
    let scheduled = ScheduledProgram(slow, self.clock)
    let scheduling = Task.immediate {
      try await scheduled.journal.schedule(self.send, with: Note("a"), named: "n", every: .seconds(100))
    }
    try await slow.gate.arrivals(count: 1)
    #expect(await scheduled.journal.removeAll())
    let other = ScheduledProgram(self.storage.base, self.clock)
    try await other.journal.schedule(self.send, with: Note("b"), named: "n", every: .seconds(100))
    slow.gate.open()
    await #expect { try await scheduling.value } throws: { ($0 as? JournalError)?.code == .removed }
    try await expect(slow.base.keys("journal/"), equals: ["journal/=schedule=/n"])
  }

  @Test func `A call that is being accepted while a user signs out does not come back`() async throws {
    try await self.leave(self.send, every: 100)
    let gated = TestStorage(self.storage.base, writes: false)
    let scheduled = ScheduledProgram(gated, self.clock)
    scheduled.register(self.send)
    await scheduled.journal.resume()
    self.clock.advance(by: .seconds(100))
    try await gated.writing.arrivals(count: 1)
    let removal = Task.immediate { await scheduled.journal.removeAll() }
    gated.writing.open()
    #expect(await removal.value)
    #expect(try await gated.base.keys("journal/").isEmpty)
    await scheduled.pass(200)
    #expect(self.server.requests.isEmpty)
  }

  @Test func `Signing out ends after the call that is being accepted was removed`() async throws {
    try await self.leave(self.send, every: 100)
    let storage = SlowAcceptance(self.storage.base)
    let scheduled = ScheduledProgram(storage, self.clock)
    scheduled.register(self.send)
    await scheduled.journal.resume()
    self.clock.advance(by: .seconds(100))
    try await storage.gate.arrivals(count: 1)
    let hasEnded = Mutex(false)
    let removal = Task.immediate {
      let isRemoved = await scheduled.journal.removeAll()
      hasEnded.withLock { $0 = true }
      return isRemoved
    }
    #expect(!hasEnded.withLock { $0 })
    storage.gate.open()
    #expect(await removal.value)
    #expect(try await storage.base.keys("journal/").isEmpty)
    await scheduled.pass(200)
    #expect(self.server.requests.isEmpty)
  }

  @Test func `A call whose schedule is removed while the call is being accepted is not made`() async throws {
    try await self.leave(self.send, every: 100)
    let storage = SlowAcceptance(self.storage.base, removesSlowly: true)
    let executor = SteppedExecutor()
    let scheduled = ScheduledProgram(storage, self.clock, executor: executor)
    scheduled.register(self.send)
    await scheduled.journal.resume()
    executor.runAll()
    self.clock.advance(by: .seconds(100))
    executor.runAll()
    try await storage.gate.arrivals(count: 1)
    let removal = Task.immediate { await scheduled.journal.removeAll() }
    try await storage.removing.arrivals(count: 1)
    storage.gate.open()
    executor.runAll()
    #expect(self.server.requests.isEmpty)
    storage.removing.open()
    #expect(await removal.value)
    executor.runAll()
    #expect(self.server.requests.isEmpty)
    #expect(try await storage.base.keys("journal/").isEmpty)
  }

  @Test func `A call whose acceptance was not answered while a user signs out is removed`() async throws {
    try await self.leave(self.send, every: 100)
    let storage = SlowAcceptance(self.storage.base, losesAnswer: true)
    let scheduled = ScheduledProgram(storage, self.clock)
    scheduled.register(self.send)
    await scheduled.journal.resume()
    self.clock.advance(by: .seconds(100))
    try await storage.gate.arrivals(count: 1)
    let removal = Task.immediate { await scheduled.journal.removeAll() }
    storage.gate.open()
    #expect(await removal.value)
    #expect(try await storage.base.keys("journal/").isEmpty)
    await scheduled.pass(200)
    #expect(self.server.requests.isEmpty)
  }
}

/// A storage whose answer to the acceptance of a call, or to the storing of another entry, waits at a gate, and may be a failure
/// although it is stored.
///
/// The answer to the removal of a schedule may wait at another gate.
private final class SlowAcceptance: PersistentStorage {
  let base: InMemoryStorage
  let gate = Gate()
  let removing: Gate
  private let prefix: String
  private let losesAnswer: Bool

  init(
    _ base: InMemoryStorage,
    of prefix: String = "journal/0",
    losesAnswer: Bool = false,
    removesSlowly: Bool = false
  ) {
    self.base = base
    self.prefix = prefix
    self.removing = Gate(isOpen: !removesSlowly)
    self.losesAnswer = losesAnswer
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    let accepts = batch.contains { if case .put(let key, _) = $0 { key.hasPrefix(self.prefix) } else { false } }
    let removes = batch.contains { if case .remove(let key) = $0 { key.hasPrefix("journal/=") } else { false } }
    let outcome = try await self.base.apply(batch, if: conditions)
    if removes { try await self.removing.wait() }
    guard accepts else { return outcome }
    try await self.gate.wait()
    if self.losesAnswer { throw Broken() }
    return outcome
  }

  nonisolated(nonsending) func close() async { await self.base.close() }
}

/// A storage that loses the answer to a write.
private final class LossyStorage: PersistentStorage {
  private let base = InMemoryStorage()
  private let losses = Mutex(false)

  func loseNextAnswer() { self.losses.withLock { $0 = true } }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    let outcome = try await self.base.apply(batch, if: conditions)
    let isLost = self.losses.withLock { isLost in
      defer { isLost = false }
      return isLost
    }
    if isLost { throw StorageError(code: .busy, message: "The answer was lost.") }
    return outcome
  }

  nonisolated(nonsending) func close() async { await self.base.close() }
}
