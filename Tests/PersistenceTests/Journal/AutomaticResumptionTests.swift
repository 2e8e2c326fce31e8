import FoundationEssentials
import OperationBackoff
import OperationCore
import OperationEvents
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Journals that resume by themselves.
@Suite(.bounded, .warningsAreIssues) struct AutomaticResumptionTests {
  private let server = Server()
  private let script = Script()
  private let network = NetworkSwitch()

  private var send: Send { Send(server: self.server, script: self.script) }

  private var mutation: some MutationRequest<Note, String, any Error> {
    self.send.scope("s").journaled(as: "send", failsForGood: .where { _ in false }).deadLetters(.letPass)
  }

  private func start(
    _ storage: any PersistentStorage = InMemoryStorage(),
    clock: ManualClock = ManualClock(),
    attemptsBeforeDeadLetter: Int? = nil
  ) -> (program: Program, journal: MutationJournal) {
    let program = Program(storage, clock: clock)
    let counter = KeyCounter()
    let journal = MutationJournal(
      storage: storage,
      resumes: .when(self.network, backoff: .linear(.seconds(10))),
      attemptsBeforeDeadLetter: attemptsBeforeDeadLetter,
      makeKey: { "k\(counter.next())" }
    )
    program.client.journal = journal
    return (program, journal)
  }

  @Test func `Calls of an earlier start are made by themselves when the condition holds`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b", "c"], in: storage)
    let (program, journal) = self.start(storage)
    let note = program.client.store(for: Script().query(path: ["note"]))
    note.currentValue = "server"
    journal.register(
      self.mutation.optimistic(on: ["note"], of: TextNoteState.self) { text, note in text = "\(text ?? "")+\(note.text)"
      },
      as: "send"
    )
    // Offline, the screen shows what will be sent.
    expect(note.currentValue, equals: "server+a+b+c")
    #expect(self.server.requests.isEmpty)
    expect(journal.statuses, equals: [.waiting, .waiting, .waiting])
    self.network.turnOn()
    for _ in 0..<3 { try await self.script.next().succeed("ok") }
    try await journal.entries(count: 0)
    expect(self.server.requests.map(\.key), equals: ["old1", "old2", "old3"])
    #expect(try await storage.keys().isEmpty)
  }

  @Test(arguments: [false, true])
  func `A journal that had nothing to do makes what another process leaves later, or forgets it`(
    isMade: Bool
  ) async throws {
    let clock = ManualClock()
    let base = InMemoryStorage(elapsed: { clock.elapsed })
    self.network.turnOn()
    let (program, journal) = self.start(SharedStorage(base), clock: clock)
    journal.register(self.mutation, as: "send")
    // Another process stores a call, and lives for a while.
    try await leaveCalls(["a"], in: base, owner: "other")
    try await expect(base.acquireLease("journal/other", owner: "other", for: .seconds(4)), equals: .held)
    // This one learns of it with a call of its own.
    let own = Send(server: self.server, script: self.script, path: ["own"]).scope("t").journaled(as: "own")
    let call = Task.immediate { try await program.client.store(for: own).mutate(with: Note(id: 2, text: "b")) }
    try await self.script.next().succeed("ok")
    _ = try await call.value
    try await journal.entries(count: 1)
    if isMade { try await base.apply(base.keys("journal/").map { .remove(key: $0) }) }
    let end = Task {
      if isMade { return try await journal.entries(count: 0) }
      try await self.script.next().succeed("ok")
    }
    try await clock.advance(until: Task { _ = await end.result })
    #expect(isMade || clock.elapsed >= .seconds(4))
    try await end.value
    try await journal.entries(count: 0)
    expect(self.server.done, equals: (isMade ? ["b"] : ["b", "a"]))
  }

  @Test func `Calls are made when their mutation is registered, and those before them in their scope`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage, name: "other")
    try await leaveCalls(["b"], in: storage)
    self.network.turnOn()
    let (_, journal) = self.start(storage)
    journal.register(self.mutation, as: "send")
    #expect(self.server.requests.isEmpty)
    journal.register(Send(server: self.server, script: self.script, path: ["other"]), as: "other")
    for _ in 0..<2 { try await self.script.next().succeed("ok") }
    try await journal.entries(count: 0)
    expect(self.server.done, equals: ["a", "b"])
  }

  @Test func `A name that is not registered is reported after half a minute, and made when it is`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    self.network.turnOn()
    let (program, journal) = self.start(storage)
    program.clock.advance(by: .seconds(29))
    let warnings = Log<OperationWarning.Code>()
    let unregistered = Gate()
    let observer = program.client.onNotice { notice, _ in
      if notice.name == .journalUnregistered { unregistered.open() }
    }
    let reporter: OperationWarning.Reporter = { warnings.append($0.code) }
    try await OperationWarning.withReporter(reporter) {
      program.clock.advance(by: .seconds(1))
      try await unregistered.wait()
    }
    observer.cancel()
    expect(warnings.all, equals: [.journalNameUnregistered])
    journal.register(self.mutation, as: "send")
    try await self.script.next().succeed("ok")
    try await journal.entries(count: 0)
  }

  @Test func `A call that has failed is made again after its backoff, with those behind it`() async throws {
    self.network.turnOn()
    let (program, journal) = self.start()
    journal.register(self.mutation, as: "send")
    let store = program.client.store(for: self.mutation)
    let first = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await self.script.next().fail(Refused())
    await #expect(throws: Refused()) { try await first.value }
    let second = Task.immediate { try await store.mutate(with: Note(id: 1, text: "b")) }
    #expect(store.state.isPaused)
    program.clock.advance(by: .seconds(4))
    let text = "\(store.explain())"
    #expect(
      text.contains(
        "has waited for 4 s until the call of \"send\" before it in its scope, which has failed, was made again"
      ),
      "\(text)"
    )
    expect(journal.statuses, equals: [.waiting, .blocked])
    program.clock.advance(by: .seconds(5))
    expect(self.server.requests.count, equals: 1)
    program.clock.advance(by: .seconds(1))
    let again = try await self.script.next()
    #expect(!store.state.isPaused)
    expect(journal.statuses, equals: [.running, .waiting])
    // The second failure in a row has a longer backoff.
    again.fail(Refused())
    try await journal.shows([.waiting, .blocked])
    #expect(store.state.isPaused)
    program.clock.advance(by: .seconds(19))
    expect(journal.statuses, equals: [.waiting, .blocked])
    program.clock.advance(by: .seconds(1))
    for _ in 0..<2 { try await self.script.next().succeed("ok") }
    try await expect(second.value, equals: "ok")
    expect(self.server.requests.map(\.text), equals: ["a", "a", "a", "b"])
    #expect(!store.state.isPaused)
    try await journal.entries(count: 0)
  }

  @Test func `A condition that begins to hold ends the backoff`() async throws {
    let (program, journal) = self.start()
    journal.register(self.mutation, as: "send")
    let store = program.client.store(for: self.mutation)
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await self.script.next().fail(Refused())
    await #expect(throws: Refused()) { try await call.value }
    program.clock.advance(by: .seconds(600))
    expect(self.server.requests.count, equals: 1)
    self.network.turnOn()
    try await self.script.next().fail(Refused())
    try await journal.shows([.waiting])
    self.network.turnOff()
    self.network.change()
    self.network.turnOn()
    // It has begun to hold a moment ago.
    expect(self.server.requests.count, equals: 2)
    program.clock.advance(by: .seconds(1))
    try await self.script.next().succeed("ok")
    try await journal.entries(count: 0)
    expect(self.server.requests.count, equals: 3)
    expect(program.clock.sleeperCount(), equals: 0)
  }

  @Test func `A server says when a call is made again`() async throws {
    self.network.turnOn()
    let (program, journal) = self.start()
    journal.register(self.mutation, as: "send")
    let store = program.client.store(for: self.mutation)
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await self.script.next().fail(Busy(retryAfter: .seconds(100)))
    await #expect(throws: Busy.self) { try await call.value }
    program.clock.advance(by: .seconds(99))
    expect(self.server.requests.count, equals: 1)
    program.clock.advance(by: .seconds(1))
    try await self.script.next().succeed("ok")
    try await journal.entries(count: 0)
  }

  @Test func `A call whose caller is cancelled is made by itself, once`() async throws {
    self.network.turnOn()
    let (program, journal) = self.start()
    journal.register(self.mutation, as: "send")
    let store = program.client.store(for: self.mutation)
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    _ = try await self.script.next()
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    try await self.script.next().succeed("ok")
    try await journal.entries(count: 0)
    expect(self.server.requests.map(\.key), equals: ["k1", "k1"])
  }

  @Test func `A body that ends as cancelled by itself is made again after the backoff, and not at once`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    self.network.turnOn()
    let (program, journal) = self.start(storage)
    journal.register(self.mutation, as: "send")
    try await self.script.next().fail(CancellationError())
    try await journal.shows([.waiting])
    expect(self.server.requests.count, equals: 1)
    program.clock.advance(by: .seconds(10))
    try await self.script.next().succeed("ok")
    try await journal.entries(count: 0)
  }

  @Test func `A call that fails too often becomes a dead letter, and those behind it are made if it lets them pass`()
    async throws
  {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b"], in: storage, attempts: 0, letsPass: true)
    self.network.turnOn()
    let (program, journal) = self.start(storage, attemptsBeforeDeadLetter: 2)
    let warnings = Receiver<OperationWarning.Code>()
    let reporter: OperationWarning.Reporter = { warnings.receive($0.code) }
    try await OperationWarning.withReporter(reporter) {
      journal.register(self.mutation, as: "send")
      try await self.script.next().fail(Refused())
      try await journal.shows([.waiting, .blocked])
      program.clock.advance(by: .seconds(10))
      try await self.script.next().fail(Refused())
      try await self.script.next().succeed("ok")
      try await journal.entries(count: 1)
      // The next call may be made before the dead letter is reported.
      try await warnings.values(count: 1)
    }
    // Passing failures are not reported one by one.
    expect(warnings.all, equals: [.journalDeadLetter])
    expect(journal.statuses, equals: [.deadLetter])
    expect(self.server.done, equals: ["a", "b"])
  }

  @Test func `Without a condition the journal resumes on demand alone, and a client that is shut down does not`()
    async throws
  {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    let journal = Program(storage).makeJournal()
    journal.register(self.mutation, as: "send")
    expect(journal.statuses, equals: [.waiting])
    let (program, stopped) = self.start(storage)
    program.client.stopAutomaticRuns()
    self.network.turnOn()
    stopped.register(self.mutation, as: "send")
    expect(stopped.statuses, equals: [.waiting])
    #expect(self.server.requests.isEmpty)
  }

  @Test func `A client that observes the network resumes its journal by itself`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    let client = OperationClient(storeCreator: Observing(network: self.network))
    let journal = MutationJournal(storage: storage)
    client.journal = journal
    journal.register(self.mutation, as: "send")
    #expect(self.server.requests.isEmpty)
    self.network.turnOn()
    try await self.script.next().succeed("ok")
    try await journal.entries(count: 0)
  }

  @Test(arguments: [1, 3]) func `Calls are made in as many scopes at once as the journal says`(limit: Int) async throws
  {
    let storage = InMemoryStorage()
    for scope in 0..<4 { try await leaveCalls(["\(scope)a", "\(scope)b"], in: storage, scope: "s\(scope)") }
    let program = Program(storage)
    let journal = MutationJournal(storage: storage, maximumConcurrentScopes: limit)
    program.client.journal = journal
    journal.register(self.send.scope("s").journaled(as: "send"), as: "send")
    let resumption = await journal.resume()
    for _ in 0..<8 {
      let run = try await self.script.next()
      #expect(journal.statuses.count { $0 == .running } <= limit)
      run.succeed("ok")
    }
    await resumption.settled()
    expect(self.server.done.count, equals: 8)
    for scope in 0..<4 {
      expect(self.server.done.filter { $0.hasPrefix("\(scope)") }, equals: ["\(scope)a", "\(scope)b"])
    }
    #expect(journal.entries.isEmpty)
  }
}

private struct Busy: RetryHinting {
  let retryAfter: OperationDuration?
}

/// Makes plain stores, for a client that observes a network.
private struct Observing: OperationClient.StoreCreator {
  let network: NetworkSwitch

  var connectionSpecification: (any OperationRunSpecification & Sendable)? { self.network }

  func store<Operation: StatefulOperationRequest & Sendable>(
    for operation: Operation,
    in context: OperationContext,
    with initialState: Operation.State
  ) -> OperationStore<Operation.State> {
    .detached(operation: operation, initialState: initialState, initialContext: context)
  }
}
