import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPausing
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Calls that are made within a time or not at all.
@Suite(.bounded, .warningsAreIssues) struct JournalExpiryTests {
  private let server = Server()
  private let script = Script()
  private let network = NetworkSwitch()

  private var mutation: some MutationRequest<Note, String, any Error> {
    Send(server: self.server, script: self.script).scope("s").journaled(as: "send", failsForGood: .where { _ in false })
      .expires(after: .seconds(60))
  }

  private var patient: some MutationRequest<Note, String, any Error> {
    Send(server: self.server, script: self.script).waits(until: self.network).scope("s").journaled(as: "send")
      .expires(after: .seconds(60))
  }

  private func start<Mutation: MutationRequest<Note, String, any Error>>(
    _ mutation: Mutation,
    _ storage: any PersistentStorage = InMemoryStorage(),
    clock: ManualClock = ManualClock()
  ) -> (program: Program, journal: MutationJournal, call: @Sendable (String) -> Task<String, any Error>) {
    let program = Program(storage, clock: clock)
    let journal = program.makeJournal()
    journal.register(mutation, as: "send")
    let store = program.client.store(for: mutation)
    return (program, journal, { text in Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) } })
  }

  /// Advances a clock, and returns the codes of the warnings.
  private func warnings(_ body: () async throws -> Void) async rethrows -> [OperationWarning.Code] {
    let warnings = Log<OperationWarning.Code>()
    let reporter: OperationWarning.Reporter = { warnings.append($0.code) }
    try await OperationWarning.withReporter(reporter) { try await body() }
    return warnings.all
  }

  private func warningsWith<R>(_ body: () -> R) async -> (R, [OperationWarning.Code]) {
    let warnings = Log<OperationWarning.Code>()
    let reporter: OperationWarning.Reporter = { warnings.append($0.code) }
    return (OperationWarning.withReporter(reporter) { body() }, warnings.all)
  }

  @Test func `A call that waits too long is set aside and reported, and can be given its time again`() async throws {
    let (program, journal, call) = self.start(self.mutation)
    let first = call("a")
    let run = try await self.script.next()
    program.clock.advance(by: .seconds(30))
    let second = call("b")
    // The time of the first passes, which has begun.
    program.clock.advance(by: .seconds(30))
    expect(journal.statuses, equals: [.running, .waiting])
    let warnings = await self.warnings { program.clock.advance(by: .seconds(30)) }
    expect(warnings, equals: [.journalCallExpired])
    await #expect { try await second.value } throws: { ($0 as? JournalError)?.code == .expired }
    expect(journal.statuses, equals: [.running, .expired])
    let later = call("c")
    run.succeed("ok")
    _ = try await first.value
    try await self.script.next().succeed("ok")
    _ = try await later.value
    expect(self.server.done, equals: ["a", "c"])
    expect(program.restarted().makeJournal().statuses, equals: [.expired])
    // It has 60 s again.
    let failed = try await self.warnings {
      let retry = Task.immediate { await journal.retry("k2") }
      try await self.script.next().fail(Refused())
      _ = await retry.value
    }
    expect(failed, equals: [.journalCallFailed])
    expect(journal.statuses, equals: [.waiting])
    program.clock.advance(by: .seconds(59))
    expect(journal.statuses, equals: [.waiting])
    await expect(self.warnings { program.clock.advance(by: .seconds(1)) }, equals: [.journalCallExpired])
    expect(journal.statuses, equals: [.expired])
    #expect(await journal.remove("k2"))
    #expect(try await program.storage.keys().isEmpty)
  }

  @Test func `A body that has begun in time may end later, and its failure is the last`() async throws {
    let (program, journal, call) = self.start(self.mutation)
    let first = call("a")
    var run = try await self.script.next()
    program.clock.advance(by: .seconds(100))
    run.succeed("ok")
    try await expect(first.value, equals: "ok")
    let warnings = try await self.warnings {
      let second = call("b")
      run = try await self.script.next()
      program.clock.advance(by: .seconds(100))
      run.fail(Refused())
      await #expect(throws: Refused()) { try await second.value }
    }
    expect(warnings, equals: [.journalCallExpired])
    expect(journal.statuses, equals: [.expired])
  }

  @Test func `A call of an earlier start expires by the date, and a clock that is set back does not prolong it much`()
    async throws
  {
    let storage = InMemoryStorage()
    let clock = ManualClock()
    let before = self.start(self.patient, storage, clock: clock)
    let left = before.call("a")
    left.cancel()
    _ = await left.result
    expect(before.journal.statuses, equals: [.waiting])
    let entries = try await storage.entries(withPrefix: "")
    for (shift, isExpired) in [(61.0, true), (10, false), (-86_400, false)] {
      let later = ManualClock(date: Date(timeIntervalSinceReferenceDate: shift))
      let restored = InMemoryStorage(entries: entries)
      let (program, early) = await self.warningsWith { self.start(self.patient, restored, clock: later) }
      expect(early, equals: (isExpired ? [.journalCallExpired] : []))
      expect(program.journal.statuses, equals: [isExpired ? .expired : .waiting])
      let late = await self.warnings { later.advance(by: .seconds(60)) }
      expect(late, equals: (isExpired ? [] : [.journalCallExpired]))
      expect(program.journal.statuses, equals: [.expired])
    }
  }

  @Test func `A replay that waits for the network expires at once, and the caller of a call when it goes on`()
    async throws
  {
    let storage = InMemoryStorage()
    let (program, journal, call) = self.start(self.patient, storage)
    let left = call("a")
    left.cancel()
    _ = await left.result
    let warnings = await self.warnings {
      let resumption = await journal.resume()
      expect(journal.statuses, equals: [.running])
      program.clock.advance(by: .seconds(60))
      await resumption.settled()
    }
    expect(warnings, equals: [.journalCallExpired])
    expect(journal.statuses, equals: [.expired])
    let late = await self.warnings {
      let second = call("b")
      program.clock.advance(by: .seconds(60))
      self.network.turnOn()
      await #expect { try await second.value } throws: { ($0 as? JournalError)?.code == .expired }
    }
    expect(late, equals: [.journalCallExpired])
    #expect(self.server.requests.isEmpty)
    expect(journal.statuses, equals: [.expired, .expired])
  }

  @Test func `A call that ends leaves no alarm`() async throws {
    let (program, journal, call) = self.start(self.mutation)
    let first = call("a")
    try await self.script.next().succeed("ok")
    _ = try await first.value
    #expect(journal.entries.isEmpty)
    expect(program.clock.sleeperCount(), equals: 0)
  }

  @Test func `A negative time is reported`() {
    expectWarning(.invalidArgument) {
      _ = Send(server: self.server).journaled(as: "send").expires(after: .seconds(-1))
    }
  }
}
