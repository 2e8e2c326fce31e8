import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// What a client that stops its automatic runs ends at once: waits of its journal for the storage and for other processes.
///
/// The time does not move, so that no later look of the journal helps.
@Suite(.bounded, .warningsAreIssues) struct JournalStopTests {
  private let server = Server()
  private let script = Script(default: .value("ok"))
  private let clock = ManualClock()
  private let storage: SharedStorage

  init() {
    let clock = self.clock
    self.storage = SharedStorage(InMemoryStorage(elapsed: { clock.elapsed }))
  }

  private func start(
    _ storage: (any PersistentStorage)? = nil,
    in scope: String? = "s"
  ) -> (program: Program, journal: MutationJournal, send: @Sendable (String) async throws -> String) {
    let program = Program(storage ?? self.storage, clock: self.clock)
    let journal = program.makeJournal()
    func start(_ mutation: some MutationRequest<Note, String, any Error>) -> @Sendable (String) async throws -> String {
      journal.register(mutation, as: "send")
      let store = program.client.store(for: mutation)
      return { try await store.mutate(with: Note(id: 1, text: $0)) }
    }
    let send = Send(server: self.server, script: self.script)
    guard let scope else { return (program, journal, start(send.journaled(as: "send"))) }
    return (program, journal, start(send.scope(scope).journaled(as: "send")))
  }

  /// Waits until no store of the client runs, as a service does.
  private func settle(_ client: OperationClient) async {
    while let store = client.runningStores().first { await store.settled() }
  }

  @Test(arguments: ["s", nil]) func `A stored call does not begin whose attempt is being counted`(
    scope: String?
  )
    async throws
  {
    let storage = TestStorage(writes: false)
    try await leaveCalls(["a"], in: storage.base, scope: scope)
    let (program, journal, _) = self.start(storage, in: scope)
    let resumption = await journal.resume()
    try await storage.writing.arrivals(count: 1)
    program.client.stopAutomaticRuns()
    storage.writing.open()
    await self.settle(program.client)
    await resumption.settled()
    #expect(self.server.requests.isEmpty)
    expect(journal.texts, equals: ["a"])
    expect(journal.entries.map(\.attempts), equals: [1])
    // The next start makes it.
    let next = self.start(InMemoryStorage(entries: try await storage.base.entries(withPrefix: "")), in: scope)
    await next.journal.resume().settled()
    expect(self.server.done, equals: ["a"])
  }

  @Test func `A stored call that is being made makes no further attempt`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    let program = Program(storage, clock: self.clock)
    let journal = program.makeJournal()
    let (script, network) = (Script(), NetworkSwitch())
    let send = Send(server: self.server, script: script).tryingAgain(when: network).scope("s").journaled(as: "send")
    journal.register(send, as: "send")
    let resumption = await journal.resume()
    let run = try await script.next()
    program.client.stopAutomaticRuns()
    run.fail(Refused())
    network.turnOn()
    await self.settle(program.client)
    await resumption.settled()
    expect(self.server.requests.count, equals: 1)
    expect(journal.texts, equals: ["a"])
    expect(journal.entries.map(\.attempts), equals: [2])
  }

  @Test func `A stored call does not wait for the lease that it has lost`() async throws {
    try await leaveCalls(["a"], in: self.storage.base)
    let (program, journal, _) = self.start()
    // The count of the attempt is written, and the answer comes when another process has the lease.
    let answer = self.storage.holdNextAnswer()
    let resumption = await journal.resume()
    try await answer.arrivals(count: 1)
    self.storage.suspend()
    self.clock.advance(by: .seconds(6))
    try await expect(self.storage.base.acquireLease("journal:ss/", owner: "other", for: .seconds(60)), equals: .held)
    self.storage.resume()
    answer.open()
    // It asks for the lease.
    try await self.clock.sleepers(count: 1)
    program.client.stopAutomaticRuns()
    await self.settle(program.client)
    await resumption.settled()
    #expect(self.server.requests.isEmpty)
    expect(journal.texts, equals: ["a"])
  }

  @Test func `A caller does not wait for the lease of another process, and its call stays`() async throws {
    try await expect(self.storage.base.acquireLease("journal:ss/", owner: "other", for: .seconds(60)), equals: .held)
    let (program, journal, send) = self.start()
    let calls = ["a", "b"].map { text in Task.immediate { try await send(text) } }
    try await journal.entries(count: 2)
    program.client.stopAutomaticRuns()
    for call in calls {
      await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .stopped }
    }
    await self.settle(program.client)
    // A caller that comes later does not wait either.
    await #expect { try await send("c") } throws: { ($0 as? JournalError)?.code == .stopped }
    #expect(self.server.requests.isEmpty)
    expect(journal.texts.sorted(), equals: ["a", "b", "c"])
    try await expect(self.storage.base.keys("journal/").count, equals: 3)
  }

  @Test func `A value in place of the error of a stop leaves the call in the journal`() async throws {
    try await expect(self.storage.base.acquireLease("journal:ss/", owner: "other", for: .seconds(60)), equals: .held)
    let program = Program(self.storage, clock: self.clock)
    let journal = program.makeJournal()
    let send = Send(server: self.server, script: self.script)
    let mutation = send.scope("s").journaled(as: "send").substituting("later")
    journal.register(mutation, as: "send")
    let store = program.client.store(for: mutation)
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await journal.entries(count: 1)
    program.client.stopAutomaticRuns()
    try await expect(call.value, equals: "later")
    await self.settle(program.client)
    expect(journal.texts, equals: ["a"])
    try await expect(self.storage.base.keys("journal/").count, equals: 1)
  }

  @Test func `A caller without a scope does not wait for the lease of its journal`() async throws {
    let (program, journal, send) = self.start(in: nil)
    // It cannot have the lease.
    self.storage.suspend()
    let call = Task.immediate { try await send("a") }
    try await journal.entries(count: 1)
    program.client.stopAutomaticRuns()
    await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .stopped }
    await self.settle(program.client)
    #expect(self.server.requests.isEmpty)
  }

  @Test(arguments: [false, true]) func `A caller does not wait for the lease that it has lost`(
    isStopped: Bool
  ) async throws {
    let program = Program(self.storage, clock: self.clock)
    let journal = program.makeJournal()
    let (script, network) = (Script(), NetworkSwitch())
    script.enqueue(.error(Refused()))
    let send = Send(server: self.server, script: script).tryingAgain(when: network).scope("s").journaled(as: "send")
    let store = program.client.store(for: send)
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await script.runs(count: 1)
    expect(network.observerCount, equals: 1)
    // Another process takes the lease between two attempts.
    self.storage.suspend()
    self.clock.advance(by: .seconds(6))
    try await expect(self.storage.base.acquireLease("journal:ss/", owner: "other", for: .seconds(60)), equals: .held)
    self.storage.resume()
    if isStopped { program.client.stopAutomaticRuns() }
    network.turnOn()
    if !isStopped {
      // It asks for the lease.
      try await self.clock.sleepers(count: 1)
      program.client.stopAutomaticRuns()
    }
    await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .stopped }
    await self.settle(program.client)
    expect(self.server.requests.count, equals: 1)
    expect(journal.texts, equals: ["a"])
    try await expect(self.storage.base.keys("journal/").count, equals: 1)
  }

  @Test(arguments: ["s", nil]) func `A caller whose lease is free is still made`(scope: String?) async throws {
    let (program, journal, send) = self.start(in: scope)
    program.client.stopAutomaticRuns()
    try await expect(send("a"), equals: "ok")
    #expect(journal.entries.isEmpty)
  }
}
