import OperationBackoff
import OperationCore
import OperationEvents
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

private typealias NoteStore = OperationStore<MutationState<Note, String, any Error>>

/// A failure that says that it passes by itself.
private struct Unavailable: Error, RetryClassifying {
  var retryClassification: RetryClassification { .retry }
}

/// A failure that says when to come again.
private struct Busy: Error, RetryHinting {
  var retryAfter: Duration? { .seconds(30) }
}

/// When a journal gives a call up, and how often it tries.
@Suite(.bounded, .warningsAreIssues) struct JournalGivingUpTests {
  private let server = Server()
  private let script = Script()
  private let network = NetworkSwitch()

  private func start(
    _ storage: any PersistentStorage = InMemoryStorage(),
    clock: ManualClock = ManualClock(),
    backoff: OperationBackoffFunction = .constant(.seconds(10))
  ) -> (program: Program, journal: MutationJournal, store: NoteStore) {
    let program = Program(storage, clock: clock)
    let counter = KeyCounter()
    let journal = MutationJournal(
      storage: storage,
      resumes: .when(self.network, backoff: backoff),
      makeKey: { "k\(counter.next())" }
    )
    program.client.journal = journal
    let mutation = Send(server: self.server, script: self.script).scope("s")
      .journaled(as: "send", failsForGood: .where { _ in false })
    journal.register(mutation, as: "send")
    return (program, journal, program.client.store(for: mutation))
  }

  private func failFirst(_ store: NoteStore, with error: any Error) async throws {
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await self.script.next().fail(error)
    await #expect(throws: (any Error).self) { try await call.value }
  }

  @Test func `Failures that pass by themselves make no dead letter, and the calls behind keep waiting`() async throws {
    self.network.turnOn()
    let (program, journal, store) = self.start()
    try await self.failFirst(store, with: Unavailable())
    let second = Task.immediate { try await store.mutate(with: Note(id: 1, text: "b")) }
    for count in 2...100 {
      try await journal.lastFailure()
      program.clock.advance(by: .seconds(10))
      let run = try await self.script.next()
      expect(self.server.requests.count, equals: count)
      run.fail(Unavailable())
    }
    try await journal.lastFailure()
    program.clock.advance(by: .seconds(10))
    try await self.script.next().succeed("ok")
    try await self.script.next().succeed("ok")
    try await expect(second.value, equals: "ok")
    expect(self.server.done, equals: ["a", "b"])
    expect(Set(self.server.requests.map(\.text).dropLast()), equals: ["a"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `After an outage of an hour all calls are sent, in order, and the server was asked seldom`() async throws {
    self.network.turnOn()
    // The default, without its jitter.
    let backoff = OperationBackoffFunction.exponential(.seconds(1)).capped(at: .seconds(300))
    let (program, journal, store) = self.start(backoff: backoff)
    try await self.failFirst(store, with: Unavailable())
    let later = ["b", "c"].map { text in Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) } }
    let start = program.clock.elapsed
    var failures = 1
    while program.clock.elapsed - start < .seconds(3_600) {
      try await journal.lastFailure()
      program.clock.advance(by: backoff(failures))
      try await self.script.next().fail(Unavailable())
      failures += 1
    }
    // Nine that double, up to five minutes, and then one each five minutes.
    expect(failures, equals: 1 + 9 + 11)
    expect(Set(self.server.requests.map(\.text)), equals: ["a"])
    expect(Set(self.server.requests.map(\.key)).count, equals: 1)
    try await journal.lastFailure()
    expect(journal.statuses, equals: [.waiting, .blocked, .blocked])
    program.clock.advance(by: backoff(failures))
    for _ in 0..<3 { try await self.script.next().succeed("ok") }
    for call in later { try await expect(call.value, equals: "ok") }
    expect(self.server.done, equals: ["a", "b", "c"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `Other failures make a dead letter after five, also if the journal resumes by itself`() async throws {
    self.network.turnOn()
    let (program, journal, store) = self.start()
    expect(journal.attemptsBeforeDeadLetter, equals: 5)
    try await self.failFirst(store, with: Refused())
    for _ in 2...4 {
      try await journal.lastFailure()
      program.clock.advance(by: .seconds(10))
      try await self.script.next().fail(Refused())
    }
    try await journal.lastFailure()
    let warnings = Receiver<OperationWarning.Code>()
    let reporter: OperationWarning.Reporter = { warnings.receive($0.code) }
    try await OperationWarning.withReporter(reporter) {
      program.clock.advance(by: .seconds(10))
      try await self.script.next().fail(Refused())
      try await journal.status(.deadLetter)
      // It is reported after its status is stored.
      try await warnings.values(count: 1)
    }
    expect(warnings.all, equals: [.journalDeadLetter])
  }

  @Test func `A call that only fails in passing is given up when it is seven days old, and counts anew by hand`()
    async throws
  {
    self.network.turnOn()
    let (program, journal, store) = self.start(backoff: .constant(.seconds(86_400)))
    expect(journal.ageBeforeDeadLetter, equals: .seconds(7 * 86_400))
    let warnings = Receiver<OperationWarning.Code>()
    let reporter: OperationWarning.Reporter = { warnings.receive($0.code) }
    try await OperationWarning.withReporter(reporter) {
      try await self.failFirst(store, with: Unavailable())
      for _ in 1...7 {
        try await journal.lastFailure()
        program.clock.advance(by: .seconds(86_400))
        try await self.script.next().fail(Unavailable())
      }
      try await journal.status(.deadLetter)
      try await warnings.values(count: 1)
      expect(warnings.all, equals: [.journalDeadLetter])
      let retry = Task.immediate { await journal.retry("k1") }
      try await self.script.next().fail(Unavailable())
      #expect(await retry.value)
      expect(journal.statuses, equals: [.waiting])
    }
    expect(warnings.all, equals: [.journalDeadLetter])
  }

  @Test func `A connection that comes and goes does not send a call that was asked to wait`() async throws {
    self.network.turnOn()
    let (program, journal, store) = self.start()
    try await self.failFirst(store, with: Busy())
    try await journal.lastFailure()
    for _ in 0..<20 {
      self.network.turnOff()
      self.network.change()
      program.clock.advance(by: .milliseconds(100))
      self.network.turnOn()
    }
    program.clock.advance(by: .seconds(27))
    expect(self.server.requests.count, equals: 1)
    program.clock.advance(by: .seconds(1))
    try await self.script.next().succeed("ok")
    try await journal.entries(count: 0)
    expect(self.server.requests.count, equals: 2)
  }

  @Test func `A connection that comes and goes sends a failed call less and less often`() async throws {
    self.network.turnOn()
    let (program, journal, store) = self.start(backoff: .seconds(10_000))
    try await self.failFirst(store, with: Unavailable())
    // Within a minute, a call is sent at 0, 1, 3, 7, 15, 31 s, and then at 63 s.
    var count = 1
    for second in 0..<64 {
      for _ in 0..<5 {
        self.network.turnOff()
        self.network.change()
        self.network.turnOn()
        program.clock.advance(by: .milliseconds(200))
        if journal.statuses == [.running] {
          count += 1
          try await self.script.next().fail(Unavailable())
          try await journal.lastFailure()
        }
      }
      #expect(count <= 1 + 7, "after \(second) s")
    }
    expect(count, equals: 1 + 7)
    expect(self.server.requests.count, equals: count)
    expect(journal.statuses, equals: [.waiting])
  }
}

extension MutationJournal {
  /// Waits until nothing is made and the last call has failed.
  fileprivate func lastFailure() async throws {
    try await self.status(.waiting)
  }

  /// Waits until the first entry has a status, and nothing makes it.
  fileprivate func status(_ status: JournalEntry.Status) async throws {
    let gate = Gate()
    let subscription = self.subscribe { [weak self] _ in
      if let first = self?.entries.first, first.status == status, first.lastFailure != nil { gate.open() }
    }
    try await gate.wait()
    subscription.cancel()
  }
}

/// What later calls do once a call of their scope was given up.
@Suite(.bounded, .warningsAreIssues) struct DeadLetterScopeTests {
  private let server = Server()
  private let script = Script()
  private let network = NetworkSwitch()
  /// Keeps the clients.
  private let programs = Log<Program>()

  private var mutation: some MutationRequest<Note, String, any Error> {
    Send(server: self.server, script: self.script).scope("s").journaled(as: "send", failsForGood: .where { _ in false })
  }

  private func start(
    _ mutation: some MutationRequest<Note, String, any Error>,
    _ storage: any PersistentStorage = InMemoryStorage(),
    clock: ManualClock = ManualClock()
  ) -> (program: Program, journal: MutationJournal, store: NoteStore) {
    let program = Program(storage, clock: clock)
    let counter = KeyCounter()
    let journal = MutationJournal(
      storage: storage,
      resumes: .when(self.network, backoff: .constant(.seconds(10))),
      attemptsBeforeDeadLetter: 1,
      makeKey: { "k\(counter.next())" }
    )
    program.client.journal = journal
    journal.register(mutation, as: "send")
    self.programs.append(program)
    self.network.turnOn()
    return (program, journal, program.client.store(for: mutation))
  }

  /// The warnings during a body, at least one: a call is reported after it has the status for which the body waits.
  private func warnings(_ body: () async throws -> Void) async throws -> [String] {
    let warnings = Receiver<String>()
    let reporter: OperationWarning.Reporter = { warnings.receive("\($0)") }
    try await OperationWarning.withReporter(reporter) {
      try await body()
      try await warnings.values(count: 1)
    }
    return warnings.all
  }

  @Test(arguments: ["retry", "remove"]) func `Later calls wait for a dead letter until the user has decided`(
    decision: String
  ) async throws {
    let (_, journal, store) = self.start(self.mutation)
    var calls: [Task<String, any Error>] = []
    let warnings = try await self.warnings {
      calls = ["a", "b", "c"].map { text in
        Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) }
      }
      try await self.script.next().fail(Refused())
      await #expect(throws: Refused()) { try await calls[0].value }
      try await journal.status(.deadLetter)
    }
    expect(warnings.count, equals: 1)
    expect(warnings.first?.contains("Later calls of its scope wait until then."), equals: true)
    // The caller of the third one leaves, and its call stays.
    calls[2].cancel()
    _ = await calls[2].result
    expect(journal.statuses, equals: [.deadLetter, .blocked, .blocked])
    expect(journal.entries.map(\.blockedBy), equals: [nil, "k1", "k1"])
    expect(store.state.journaledCalls.map(\.status), equals: [.deadLetter, .blocked, .blocked])
    expect(store.state.journaledCalls.map(\.blockedBy), equals: [nil, "k1", "k1"])
    #expect(store.state.isPaused)
    let text = "\(store.explain())"
    #expect(text.contains("which is a dead letter"), "\(text)")
    #expect(text.contains("`remove(_:)` of its entry k1"), "\(text)")
    self.network.turnOff()
    self.network.change()
    self.network.turnOn()
    expect(self.server.requests.count, equals: 1)
    if decision == "retry" {
      let retry = Task.immediate { await journal.retry("k1") }
      try await self.script.next().succeed("ok")
      #expect(await retry.value)
    } else {
      #expect(await journal.remove("k1"))
    }
    for _ in 0..<2 { try await self.script.next().succeed("ok") }
    try await expect(calls[1].value, equals: "ok")
    try await journal.entries(count: 0)
    expect(self.server.requests.map(\.text), equals: (decision == "retry" ? ["a", "a"] : ["a"]) + ["b", "c"])
    #expect(!store.state.isPaused)
  }

  @Test func `A dead letter holds its scope after a restart, and one of an earlier version of the library does not`()
    async throws
  {
    let storage = InMemoryStorage()
    let (_, journal, store) = self.start(self.mutation, storage)
    var calls: [Task<String, any Error>] = []
    _ = try await self.warnings {
      calls = ["a", "b"].map { text in Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) } }
      try await self.script.next().fail(Refused())
      _ = await calls[0].result
      try await journal.status(.deadLetter)
    }
    let entries = try await storage.entries(withPrefix: "")
    expect(entries.count, equals: 2)
    let next = self.start(self.mutation, InMemoryStorage(entries: entries))
    try await next.journal.load()
    expect(next.journal.statuses, equals: [.deadLetter, .blocked])
    expect(self.server.requests.count, equals: 1)
    let earlier = entries.map { entry in
      let text = String(decoding: entry.value, as: UTF8.self).replacing(#","holdsScope":true"#, with: "")
        .replacing(#""holdsScope":true,"#, with: "")
      return StorageEntry(key: entry.key, value: Array(text.utf8))
    }
    let last = self.start(self.mutation, InMemoryStorage(entries: earlier))
    try await self.script.next().succeed("ok")
    try await last.journal.entries(count: 1)
    expect(last.journal.statuses, equals: [.deadLetter])
    expect(self.server.requests.map(\.text), equals: ["a", "b"])
    calls[1].cancel()
    _ = await calls[1].result
  }

  @Test(arguments: [true, false]) func `A call that has expired holds its scope only if it was sent`(
    isSent: Bool
  ) async throws {
    let clock = ManualClock()
    let mutation = Send(server: self.server, script: self.script).scope("s")
      .journaled(as: "send", failsForGood: .where { _ in false })
    let program = Program(InMemoryStorage(), clock: clock)
    let journal = program.makeJournal()
    let short = Send(server: self.server, script: self.script, path: ["brief"]).scope("s")
      .journaled(as: "brief", failsForGood: .where { _ in false }).expires(after: .seconds(60))
    let brief = program.client.store(for: short)
    let other = program.client.store(for: mutation)
    let warnings = try await self.warnings {
      let first = Task.immediate { try await (isSent ? brief : other).mutate(with: Note(id: 1, text: "a")) }
      let second = Task.immediate { try await (isSent ? other : brief).mutate(with: Note(id: 1, text: "b")) }
      let third = Task.immediate { try await other.mutate(with: Note(id: 1, text: "c")) }
      let run = try await self.script.next()
      clock.advance(by: .seconds(61))
      if isSent {
        run.fail(Refused())
        _ = await first.result
        try await journal.status(.expired)
        expect(journal.statuses, equals: [.expired, .blocked, .blocked])
        #expect(await journal.remove("k1"))
        try await self.script.next().succeed("ok")
        try await expect(second.value, equals: "ok")
      } else {
        expect(journal.statuses, equals: [.running, .expired, .waiting])
        run.succeed("ok")
        _ = await first.result
        _ = await second.result
      }
      try await self.script.next().succeed("ok")
      try await expect(third.value, equals: "ok")
    }
    expect(warnings.count, equals: 1)
  }
}
