import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Callers that leave while their call is stored or waits for its turn, and attempts of one run at the same time.
@Suite(.bounded, .warningsAreIssues) struct JournalLeavingTests {
  enum Leaving: CaseIterable { case time, cancellation }

  private let server = Server()
  private let script = Script(default: .value("ok"))
  private let storage = HeldStorage()
  private let program: Program
  private let journal: MutationJournal

  init() {
    self.program = Program(self.storage)
    self.journal = self.program.makeJournal()
  }

  private func send(path: OperationPath = ["send"]) -> some MutationRequest<Note, String, any Error> & Sendable {
    Send(server: self.server, script: self.script, path: path).scope("s")
      .journaled(as: "send", failsForGood: .where { _ in false })
  }

  private func start(
    _ mutation: some MutationRequest<Note, String, any Error> & Sendable
  ) -> @Sendable (String) -> Task<String, any Error> {
    self.journal.register(mutation, as: "send")
    let store = self.program.client.store(for: mutation)
    return { text in Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) } }
  }

  @Test(arguments: Leaving.allCases) func `A call whose caller leaves while it is stored is made before later calls`(
    leaving: Leaving
  ) async throws {
    let begin = self.start(self.send().leaving(after: .seconds(1), by: self.program.clock))
    self.storage.door.close()
    let first = begin("a")
    try await self.storage.door.arrival()
    switch leaving {
    case .time:
      self.program.clock.advance(by: .seconds(1))
      await #expect(throws: TookTooLong.self) { try await first.value }
    case .cancellation:
      first.cancel()
      await #expect(throws: CancellationError.self) { try await first.value }
    }
    #expect(self.journal.entries.isEmpty)
    self.storage.door.open()
    try await self.journal.shows([.waiting])
    #expect(self.server.requests.isEmpty)
    try await expect(begin("b").value, equals: "ok")
    expect(self.server.requests.map(\.text), equals: ["a", "b"])
    #expect(try await self.storage.keys().isEmpty)
  }

  @Test(arguments: Leaving.allCases, [false, true])
  func `An enqueued call whose attempt leaves while it is stored is accepted if it is stored`(
    leaving: Leaving,
    isStored: Bool
  ) async throws {
    let storage = HeldStorage(TestStorage())
    let program = Program(storage)
    let journal = program.makeJournal()
    let store = program.client.store(for: self.send().leaving(after: .seconds(1), by: program.clock))
    storage.door.close()
    let call = store.enqueue(with: Note(id: 1, text: "a"))
    try await storage.door.arrival()
    if leaving == .time { program.clock.advance(by: .seconds(1)) } else { call.cancel() }
    await #expect(throws: (any Error).self) { try await call.result }
    storage.base.failToWrite(!isStored)
    storage.door.open()
    await expect(call.isAccepted, equals: isStored)
    expect(journal.texts, equals: isStored ? ["a"] : [])
  }

  @Test(arguments: [false, true])
  func `A value in place of a call before its turn does not end the call`(isBehindAnother: Bool) async throws {
    let clock = self.program.clock
    let begin = self.start(self.send().leaving(after: .seconds(1), by: clock).substituting("later"))
    var run: ScriptedRun<String, any Error>?
    if isBehindAnother {
      self.script.enqueue(.suspend)
      _ = self.start(self.send(path: ["first"]))("a")
      run = try await self.script.next()
    } else {
      self.storage.door.close()
    }
    let call = begin("b")
    if !isBehindAnother { try await self.storage.door.arrival() }
    clock.advance(by: .seconds(1))
    try await expect(call.value, equals: "later")
    self.storage.door.open()
    try await self.journal.shows(isBehindAnother ? [.running, .waiting] : [.waiting])
    run?.succeed("ok")
    try await self.journal.entries(count: 1)
    await self.journal.resume().settled()
    expect(self.server.requests.map(\.text), equals: isBehindAnother ? ["a", "b"] : ["b"])
    #expect(try await self.storage.keys().isEmpty)
  }

  @Test func `Attempts that leave while a call is stored store it once`() async throws {
    let begin = self.start(self.send().leaving(after: .seconds(1), by: self.program.clock).tryingAgain())
    self.storage.door.close()
    let call = begin("a")
    try await self.storage.door.arrival()
    for _ in 0..<2 {
      try await self.program.clock.sleepers(count: 1)
      self.program.clock.advance(by: .seconds(1))
    }
    await #expect(throws: TookTooLong.self) { try await call.value }
    self.storage.door.open()
    try await self.journal.shows([.waiting])
    try await expect(self.storage.keys("journal/").count, equals: 1)
    await self.journal.resume().settled()
    expect(self.server.requests.map(\.key), equals: ["k1"])
    #expect(try await self.storage.keys().isEmpty)
  }

  @Test(arguments: [false, true]) func `An attempt goes on with the call that an earlier one has begun to store`(
    isBehindAnother: Bool
  ) async throws {
    let begin = self.start(self.send().leaving(after: .seconds(1), by: self.program.clock).tryingAgain())
    var earlier: (call: Task<String, any Error>, run: ScriptedRun<String, any Error>)?
    if isBehindAnother {
      self.script.enqueue(.suspend)
      let call = self.start(self.send(path: ["first"]))("a")
      earlier = (call, try await self.script.next())
    }
    self.storage.door.close()
    let call = begin("b")
    try await self.storage.door.arrival()
    self.program.clock.advance(by: .seconds(1))
    try await self.program.clock.sleepers(count: 1)
    self.storage.door.open()
    if let earlier {
      try await self.journal.shows([.running, .waiting])
      earlier.run.succeed("ok")
      try await expect(earlier.call.value, equals: "ok")
    }
    try await expect(call.value, equals: "ok")
    expect(self.server.requests.map(\.text), equals: isBehindAnother ? ["a", "b"] : ["b"])
    expect(self.server.requests.map(\.key), equals: isBehindAnother ? ["k1", "k2"] : ["k1"])
    #expect(try await self.storage.keys().isEmpty)
  }

  @Test func `An attempt waits for the turn for which an earlier one has waited`() async throws {
    let clock = self.program.clock
    let begin = self.start(self.send().leaving(after: .seconds(1), by: clock).tryingAgain())
    let beginFirst = self.start(self.send(path: ["first"]))
    self.script.enqueue(.suspend)
    let first = beginFirst("a")
    let run = try await self.script.next()
    let second = begin("b")
    try await self.journal.shows([.running, .waiting])
    clock.advance(by: .seconds(1))
    try await clock.sleepers(count: 1)
    expect(self.server.requests.map(\.text), equals: ["a"])
    run.succeed("ok")
    try await expect(first.value, equals: "ok")
    try await expect(second.value, equals: "ok")
    expect(self.server.requests.map(\.key), equals: ["k1", "k2"])
    #expect(try await self.storage.keys().isEmpty)
  }

  @Test func `No attempt of a call is made before its turn`() async throws {
    let begin = self.start(self.send().doubled())
    let beginFirst = self.start(self.send(path: ["first"]))
    self.script.enqueue(.error(Refused()))
    await #expect(throws: Refused()) { try await beginFirst("a").value }
    let second = begin("b")
    try await self.journal.entries(count: 2)
    await self.journal.resume().settled()
    try await expect(second.value, equals: "ok")
    expect(self.server.requests.map(\.text), equals: ["a", "a", "b", "b"])
    expect(Set(self.server.requests.map(\.key)), equals: ["k1", "k2"])
    #expect(try await self.storage.keys().isEmpty)
  }
}
