import FoundationEssentials
import OperationBackoff
import OperationCore
import OperationEvents
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Stored calls with names that no mutation is registered with, and what waits behind them.
@Suite(.bounded, .warningsAreIssues) struct UnregisteredCallsTests {
  private let server = Server()
  private let script = Script()
  private let network = NetworkSwitch()

  private func send(_ name: String) -> some MutationRequest<Note, String, any Error> {
    Send(server: self.server, script: self.script, path: [name]).scope("s").journaled(as: name)
  }

  private func warnings(_ body: () async throws -> Void) async rethrows -> [String] {
    let warnings = Log<String>()
    let reporter: OperationWarning.Reporter = { warnings.append("\($0)") }
    try await OperationWarning.withReporter(reporter) { try await body() }
    return warnings.all
  }

  /// A call of "gone" that was accepted at a date.
  private func leaveDatedCall(at date: Double) async throws -> InMemoryStorage {
    let storage = InMemoryStorage()
    let program = Program(storage, clock: ManualClock(date: Date(timeIntervalSinceReferenceDate: date)))
    _ = program.makeJournal(prefix: "old")
    let store = program.client.store(for: self.send("gone"))
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    _ = try await self.script.next()
    call.cancel()
    _ = await call.result
    return InMemoryStorage(entries: try await storage.entries(withPrefix: ""))
  }

  @Test(arguments: [(40.0, 100, 60), (1_000.0, 100, 30), (nil, 60, 60)] as [(Double?, Int, Int)])
  func `A call of a name that nobody registers is discarded at its age, and those behind it are made`(
    passed: Double?,
    age: Int,
    wait: Int
  ) async throws {
    let storage: InMemoryStorage
    if passed != nil {
      storage = try await self.leaveDatedCall(at: 5_000)
    } else {
      storage = InMemoryStorage()
      // Without a date: it counts from when this process found that nobody has registered the name.
      try await leaveCalls(["a"], in: storage, name: "gone")
    }
    let count = self.server.requests.count
    let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 5_000 + (passed ?? 0)))
    let program = Program(storage, clock: clock)
    let journal = MutationJournal(
      storage: storage,
      resumes: .when(self.network, backoff: .constant(.seconds(10))),
      unregistered: .discard(after: .seconds(age))
    )
    program.client.journal = journal
    self.network.turnOn()
    let mutation = self.send("send")
    journal.register(mutation, as: "send")
    let store = program.client.store(for: mutation)
    let recorder = EventRecorder<MutationState<Note, String, any Error>>()
    let subscription = store.subscribe(with: recorder.handler)
    let warnings = try await self.warnings {
      let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "b")) }
      try await journal.shows([.waiting, .blocked])
      try await recorder.firstState { $0.isPaused }
      let text = "\(store.explain())"
      #expect(text.contains("a mutation is registered as \"gone\""), "\(text)")
      clock.advance(by: .seconds(30 - (wait == 30 ? 1 : 0)))
      if wait > 30 { clock.advance(by: .seconds(wait - 31)) }
      expect(journal.entries.count, equals: 2)
      clock.advance(by: .seconds(1))
      try await self.script.next().succeed("ok")
      try await expect(call.value, equals: "ok")
    }
    subscription.cancel()
    expect(warnings.count, equals: 2)
    expect(warnings.first?.contains("It stays, and calls of its scope wait for it."), equals: true, "\(warnings)")
    expect(warnings.last?.contains("The journal has removed a call of \"gone\""), equals: true, "\(warnings)")
    expect(self.server.requests.dropFirst(count).map(\.text), equals: ["b"])
    #expect(try await storage.keys().isEmpty)
  }

  @Test(arguments: [0, 100], [true, false])
  func `A journal that is resumed by hand once discards such a call at its age`(age: Int, hasCaller: Bool) async throws
  {
    let storage = try await self.leaveDatedCall(at: 5_000)
    let count = self.server.requests.count
    let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 5_000))
    let program = Program(storage, clock: clock)
    let journal = MutationJournal(
      storage: storage,
      resumes: .manually,
      unregistered: .discard(after: .seconds(age))
    )
    program.client.journal = journal
    let mutation = self.send("send")
    journal.register(mutation, as: "send")
    let store = program.client.store(for: mutation)
    let removal = Gate()
    let reporter: OperationWarning.Reporter = { warning in
      if "\(warning)".contains("The journal has removed a call of \"gone\"") { removal.open() }
    }
    try await OperationWarning.withReporter(reporter) {
      await journal.resume().settled()
      expect(journal.entries.count, equals: 1)
      let call = hasCaller ? Task.immediate { try await store.mutate(with: Note(id: 1, text: "b")) } : nil
      if hasCaller { try await journal.shows([.waiting, .blocked]) }
      clock.advance(by: .seconds(age + 31))
      if let call {
        try await self.script.next().succeed("ok")
        try await expect(call.value, equals: "ok")
      } else {
        try await journal.entries(count: 0)
      }
      // Reported after that.
      try await removal.wait()
    }
    expect(self.server.requests.dropFirst(count).map(\.text), equals: hasCaller ? ["b"] : [])
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `A call that could not be discarded is discarded half a minute later`() async throws {
    let storage = TestStorage(try await self.leaveDatedCall(at: 5_000))
    let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 5_000))
    let program = Program(storage, clock: clock)
    let journal = MutationJournal(storage: storage, resumes: .manually, unregistered: .discard(after: .seconds(100)))
    program.client.journal = journal
    let (failure, removal) = (Gate(), Gate())
    let reporter: OperationWarning.Reporter = { warning in
      if warning.code == .storageFailed { failure.open() }
      if "\(warning)".contains("The journal has removed a call of \"gone\"") { removal.open() }
    }
    try await OperationWarning.withReporter(reporter) {
      await journal.resume().settled()
      storage.failToWrite(true)
      clock.advance(by: .seconds(131))
      try await failure.wait()
      try await journal.shows([.waiting])
      storage.failToWrite(false)
      clock.advance(by: .seconds(30))
      try await removal.wait()
    }
    #expect(try await storage.base.keys().isEmpty)
  }

  @Test func `Nothing is discarded once the client has stopped, or the name is registered`() async throws {
    for isStopped in [true, false] {
      let storage = try await self.leaveDatedCall(at: 5_000)
      let count = self.server.requests.count
      let program = Program(storage, clock: ManualClock(date: Date(timeIntervalSinceReferenceDate: 5_000)))
      let journal = MutationJournal(storage: storage, resumes: .manually, unregistered: .discard(after: .zero))
      program.client.journal = journal
      _ = await self.warnings { await journal.resume().settled() }
      if isStopped {
        program.client.stopAutomaticRuns()
      } else {
        journal.register(self.send("gone"), as: "gone")
      }
      program.clock.advance(by: .seconds(60))
      expect(journal.entries.map(\.status), equals: [.waiting])
      try await expect(storage.keys("journal/").count, equals: 1)
      expect(self.server.requests.count, equals: count)
    }
  }

  @Test func `A name that is registered late lets the callers behind its calls go on, also without resuming`()
    async throws
  {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage, name: "late")
    let program = Program(storage)
    let journal = program.makeJournal()
    let mutation = self.send("send")
    let store = program.client.store(for: mutation)
    let warnings = try await self.warnings {
      let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "b")) }
      try await journal.shows([.waiting, .blocked])
      journal.register(self.send("late"), as: "late")
      for _ in 0..<2 { try await self.script.next().succeed("ok") }
      try await expect(call.value, equals: "ok")
    }
    expect(warnings.count, equals: 1)
    expect(self.server.done, equals: ["a", "b"])
    #expect(journal.entries.isEmpty)
  }

  @Test(arguments: ["settled", "retry"], ["s", nil])
  func `A body that waits for its own end is reported, and goes on`(wait: String, scope: String?) async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage, scope: scope)
    let program = Program(storage)
    let journal = program.makeJournal()
    let ends = Log<Bool>()
    let body = Waiting { [weak journal] in
      guard let journal else { return }
      if wait == "retry" {
        ends.append(await journal.retry("old1"))
      } else {
        await journal.resume().settled()
        ends.append(true)
      }
    }
    if scope != nil {
      journal.register(body.scope("s").journaled(as: "send"), as: "send")
    } else {
      journal.register(body.journaled(as: "send"), as: "send")
    }
    let warnings = await self.warnings { await journal.resume().settled() }
    expect(ends.all, equals: [true])
    expect(warnings.count, equals: 1)
    let text = "The body of a journaled call of \"send\" waits for the end"
    expect(warnings.first?.contains(text), equals: true, "\(warnings)")
    #expect(journal.entries.isEmpty)
  }
}

/// A mutation that waits for something.
private struct Waiting: MutationRequest {
  let path: OperationPath = ["waiting"]
  let body: @Sendable () async -> Void

  init(_ body: @escaping @Sendable () async -> Void) { self.body = body }

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Note,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    await self.body()
    return "ok"
  }
}
