import OperationCore
import OperationMutation
import OperationPausing
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Calls that wait for a condition, such as the network.
@Suite(.bounded, .warningsAreIssues) struct WaitingReplayTests {
  private let server = Server()
  private let network = NetworkSwitch()

  private var mutation: some MutationRequest<Note, String, any Error> {
    Send(server: self.server).waits(until: self.network).scope("s").journaled(as: "send")
  }

  /// Makes calls that wait, and ends the program before they have begun.
  private func leave(_ texts: [String], in storage: any PersistentStorage) async throws {
    let program = Program(storage)
    let journal = program.makeJournal(attemptsBeforeDeadLetter: 3)
    let store = program.client.store(for: self.mutation)
    let calls = texts.enumerated().map { number, text in
      Task.immediate { try await store.mutate(with: Note(id: number, text: text)) }
    }
    expect(self.network.observerCount, equals: 1)
    expect(journal.texts, equals: texts)
    // The last first: a call that ends lets the next one begin.
    for call in calls.reversed() {
      call.cancel()
      _ = await call.result
    }
  }

  @Test func `A call that waits counts no attempt, and becomes no dead letter, however often the program starts`()
    async throws
  {
    let storage = InMemoryStorage()
    try await self.leave(["a", "b"], in: storage)
    for _ in 0..<6 {
      let program = Program(storage)
      let journal = program.makeJournal(attemptsBeforeDeadLetter: 3)
      journal.register(self.mutation, as: "send")
      let resumption = await journal.resume()
      expect(self.network.observerCount, equals: 1)
      // What is stored is what the next start reads if the program ends without notice.
      let stored = Program(InMemoryStorage(entries: try await storage.entries(withPrefix: ""))).makeJournal()
      expect(stored.entries.map(\.attempts), equals: [0, 0])
      expect(stored.statuses, equals: [.waiting, .waiting])
      resumption.cancel()
      await resumption.settled()
    }
    #expect(self.server.requests.isEmpty)
    expect(self.network.observerCount, equals: 0)
  }

  @Test func `A replay waits for the network, and then makes the calls of a scope in order, each once`() async throws {
    let storage = InMemoryStorage()
    try await self.leave(["a", "b", "c"], in: storage)
    let program = Program(storage)
    let journal = program.makeJournal(attemptsBeforeDeadLetter: 3)
    journal.register(self.mutation, as: "send")
    let resumption = Task.immediate { await journal.resume().settled() }
    #expect(self.server.requests.isEmpty)
    expect(journal.statuses, equals: [.running, .waiting, .waiting])
    self.network.turnOn()
    await resumption.value
    expect(self.server.done, equals: ["a", "b", "c"])
    expect(self.server.requests.map(\.key), equals: ["k1", "k2", "k3"])
    #expect(journal.entries.isEmpty)
    #expect(try await storage.keys().isEmpty)
  }

  @Test func `An attempt that begins after a wait is counted before it begins`() async throws {
    let storage = InMemoryStorage()
    try await self.leave(["poison"], in: storage)
    let script = Script()
    let mutation = Send(server: self.server, script: script).waits(until: self.network).scope("s").journaled(as: "send")
    let program = Program(storage)
    let journal = program.makeJournal(attemptsBeforeDeadLetter: 3)
    journal.register(mutation, as: "send")
    let resumption = await journal.resume()
    self.network.turnOn()
    _ = try await script.next()
    let stored = Program(InMemoryStorage(entries: try await storage.entries(withPrefix: ""))).makeJournal()
    expect(stored.entries.map(\.attempts), equals: [1])
    resumption.cancel()
    await resumption.settled()
  }

  @Test func `A mutation that is not journaled waits without an attempt, too`() async throws {
    let storage = InMemoryStorage()
    try await self.leave(["a"], in: storage)
    for _ in 0..<4 {
      let program = Program(storage)
      let journal = program.makeJournal(attemptsBeforeDeadLetter: 3)
      journal.register(Send(server: self.server).waits(until: self.network), as: "send")
      let resumption = await journal.resume()
      expect(journal.entries.map(\.attempts), equals: [0])
      resumption.cancel()
      await resumption.settled()
    }
    let program = Program(storage)
    let journal = program.makeJournal(attemptsBeforeDeadLetter: 3)
    journal.register(Send(server: self.server).waits(until: self.network), as: "send")
    self.network.turnOn()
    await journal.resume().settled()
    expect(self.server.done, equals: ["a"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `A count that cannot be stored is reported, and the call is still made`() async throws {
    let storage = TestStorage()
    try await self.leave(["a"], in: storage.base)
    let program = Program(storage)
    let journal = program.makeJournal()
    let script = Script()
    let mutation = Send(server: self.server, script: script).waits(until: self.network).scope("s").journaled(as: "send")
    journal.register(mutation, as: "send")
    try await expectWarning(.storageFailed) {
      let resumption = Task.immediate { await journal.resume().settled() }
      storage.failToWrite(true)
      self.network.turnOn()
      let run = try await script.next()
      storage.failToWrite(false)
      run.succeed("ok")
      await resumption.value
    }
    expect(self.server.done, equals: ["a"])
    #expect(journal.entries.isEmpty)
  }

  @Test func `An observer receives a change during its first call with the entries`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let store = program.client.store(for: self.mutation)
    let counts = Log<Int>()
    let call = Box<Task<String, any Error>?>(nil)
    let subscription = journal.subscribe { entries in
      guard counts.append(entries.count) == 1 else { return }
      call.value = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    }
    expect(counts.all.first, equals: 0)
    expect(counts.all.last, equals: 1)
    call.value?.cancel()
    _ = await call.value?.result
    subscription.cancel()
  }
}
