import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPausing
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// The calls of a journal in the state of a mutation's store.
@Suite(.bounded, .warningsAreIssues) struct JournaledCallsTests {
  private typealias Store = OperationStore<MutationState<Note, String, any Error>>

  private let server = Server()
  private let script = Script()
  private let network = NetworkSwitch()

  private var mutation: some MutationRequest<Note, String, any Error> {
    Send(server: self.server, script: self.script).scope("s").journaled(as: "send", failsForGood: .where { _ in false })
  }

  // MARK: - One start of the program

  @Test func `A call is shown while it waits, while it is made, and when it has ended`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let store = program.client.store(for: self.mutation)
    expect(store.calls, equals: [])
    let calls = ["a", "b"].map { text in Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) } }
    let first = try await self.script.next()
    expect(store.calls, equals: ["a running", "b waiting"])
    expect(store.state.journaledCalls.map(\.id), equals: journal.entries.map(\.id))
    first.succeed("one")
    let second = try await self.script.next()
    expect(store.calls, equals: ["a succeeded", "b running"])
    try expect(store.state.journaledCalls[id: "k1"]?.result?.get(), equals: "one")
    expect(store.state.journaledCalls[id: "k2"]?.attempts, equals: 1)
    second.fail(Refused())
    _ = try await calls[0].value
    await #expect(throws: Refused()) { try await calls[1].value }
    // It has failed, and is made again.
    expect(store.calls, equals: ["a succeeded", "b waiting"])
    expect(store.state.journaledCalls[id: "k2"]?.lastFailure, equals: "\(Refused())")
    expect(store.state.journaledCalls.first?.acceptedAt, equals: program.clock.now())
  }

  @Test func `Subscribers receive each change once`() async throws {
    let program = Program()
    _ = program.makeJournal()
    let store = program.client.store(for: self.mutation)
    let log = Log<[String]>()
    let subscription = store.subscribe { state in
      if log.all.last != state.texts { log.append(state.texts) }
    }
    let call = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    try await self.script.next().succeed("ok")
    _ = try await call.value
    await store.settled()
    expect(log.all, equals: [[], ["a running"], ["a succeeded"]])
    subscription.cancel()
  }

  @Test func `A failure for good is shown with the error, and only as many ended calls as the history has`()
    async throws
  {
    let program = Program()
    _ = program.makeJournal()
    let mutation = Send(server: self.server, script: self.script).journaled(as: "send").maxHistory(length: 2)
    let store = program.client.store(for: mutation)
    for (text, outcome) in [("a", Script.Outcome.value("1")), ("b", .error(Refused())), ("c", .value("3"))] {
      self.script.enqueue(outcome)
      _ = try? await store.mutate(with: Note(id: 1, text: text))
    }
    expect(store.calls, equals: ["b failed", "c succeeded"])
    #expect(throws: Refused()) { try store.state.journaledCalls.first?.result?.get() }
    store.resetState()
    expect(store.calls, equals: [])
  }

  @Test func `A call that waits behind a failed one is shown as blocked, until that is made again`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    journal.register(self.mutation, as: "send")
    let store = program.client.store(for: self.mutation)
    let calls = ["a", "b"].map { text in Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) } }
    try await self.script.next().fail(Refused())
    await #expect(throws: Refused()) { try await calls[0].value }
    expect(store.calls, equals: ["a waiting", "b blocked"])
    let resumption = await journal.resume()
    for _ in 0..<2 { try await self.script.next().succeed("ok") }
    await resumption.settled()
    _ = try await calls[1].value
    expect(store.calls, equals: ["a succeeded", "b succeeded"])
  }

  @Test func `Who has waited for the end of a resumption finds it in all stores`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    let program = Program(storage)
    let journal = program.makeJournal()
    journal.register(self.mutation, as: "send")
    let stores = (1...2).map { number in
      program.client.store(
        for: Send(server: self.server, script: self.script, path: ["send", number]).journaled(as: "send")
      )
    }
    let resumption = await journal.resume()
    let run = try await self.script.next()
    let waits = Log<Task<[[String]], Never>>()
    let subscriptions = stores.map { store in
      store.subscribe { state in
        guard state.texts == ["a succeeded"] else { return }
        // One of the stores does not show the end at this moment.
        waits.append(
          Task.immediate {
            await resumption.settled()
            return stores.map(\.calls)
          }
        )
      }
    }
    run.succeed("ok")
    await resumption.settled()
    expect(waits.all.count, equals: 2)
    for wait in waits.all { await expect(wait.value, equals: [["a succeeded"], ["a succeeded"]]) }
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test func `A merged call is shown once, with the merged arguments`() async throws {
    let program = Program()
    _ = program.makeJournal()
    let policy = JournalPolicy<Note>.merge(by: \.id) { Note(id: $1.id, text: $0.text + $1.text) }
    let store = program.client.store(
      for: Send(server: self.server, script: self.script).waits(until: self.network).scope("s")
        .journaled(as: "send", policy: policy)
    )
    let calls = ["a", "b", "c"].map { text in Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) } }
    expect(store.calls.map { $0.prefix(3) }, equals: ["abc"])
    expect(store.state.journaledCalls.map(\.id), equals: ["k3"])
    self.network.turnOn()
    try await self.script.next().succeed("ok")
    for call in calls { _ = try await call.value }
    expect(store.calls, equals: ["abc succeeded"])
  }

  @Test func `A call that is replaced is not shown any more`() async throws {
    let program = Program()
    _ = program.makeJournal()
    let store = program.client.store(
      for: Send(server: self.server, script: self.script).waits(until: self.network).scope("s")
        .journaled(as: "send", policy: .replacePending(by: \.id))
    )
    let calls = ["a", "b"].map { text in Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) } }
    expect(store.calls, equals: ["b running"])
    self.network.turnOn()
    try await self.script.next().succeed("ok")
    for call in calls { try await expect(call.value, equals: "ok") }
    expect(store.calls, equals: ["b succeeded"])
  }

  @Test func `Expired calls are shown until they are removed`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let store = program.client.store(for: self.mutation.expires(after: .seconds(60)))
    let warnings = try await warningCodes {
      let calls = ["a", "b"].map { text in Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) } }
      let run = try await self.script.next()
      program.clock.advance(by: .seconds(60))
      await #expect { try await calls[1].value } throws: { ($0 as? JournalError)?.code == .expired }
      expect(store.calls, equals: ["a running", "b expired"])
      run.fail(Refused())
      await #expect(throws: Refused()) { try await calls[0].value }
    }
    expect(warnings, equals: [.journalCallExpired, .journalCallExpired])
    expect(store.calls, equals: ["a expired", "b expired"])
    for entry in journal.entries { #expect(await journal.remove(entry.id)) }
    expect(store.calls, equals: [])
  }

  @Test func `A dead letter is shown with its failure`() async throws {
    let program = Program()
    let journal = program.makeJournal(attemptsBeforeDeadLetter: 1)
    let store = program.client.store(for: self.mutation)
    self.script.enqueue(.error(Refused()))
    let warnings = await warningCodes { _ = try? await store.mutate(with: Note(id: 1, text: "a")) }
    expect(warnings, equals: [.journalDeadLetter])
    expect(store.calls, equals: ["a deadLetter"])
    expect(store.state.journaledCalls.first?.lastFailure?.contains("Refused"), equals: true)
    expect(journal.statuses, equals: [.deadLetter])
  }

  @Test func `A state with a default value shows the calls, too`() async throws {
    let program = Program()
    _ = program.makeJournal()
    let store = program.client.store(for: self.mutation.defaultValue("nothing"))
    self.script.enqueue(.value("ok"))
    _ = try await store.mutate(with: Note(id: 1, text: "a"))
    expect(store.state.journaledCalls.map(\.status), equals: [.succeeded])
  }

  // MARK: - Restarts

  @Test(arguments: ["before the journal", "before the resumption", "during a replay", "after it"])
  func `After a restart a screen finds its calls, and hears when they end`(storeIsMade: String) async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b"], in: storage)
    let program = Program(storage)
    func makeStore() -> Store { program.client.store(for: self.mutation) }
    var store = storeIsMade == "before the journal" ? makeStore() : nil
    let journal = program.makeJournal()
    journal.register(self.mutation, as: "send")
    if storeIsMade == "before the resumption" { store = makeStore() }
    if let store { expect(store.calls, equals: ["a waiting", "b waiting"]) }
    let resumption = await journal.resume()
    let run = try await self.script.next()
    if storeIsMade == "during a replay" { store = makeStore() }
    if let store { expect(store.calls, equals: ["a running", "b waiting"]) }
    let gate = Gate()
    let subscription = store?.subscribe { state in
      if state.texts == ["a succeeded", "b succeeded"] { gate.open() }
    }
    run.succeed("1")
    try await self.script.next().succeed("2")
    await resumption.settled()
    if store != nil { try await gate.wait() }
    // The replays have made the store, so that it knows how they have ended.
    expect((store ?? makeStore()).calls, equals: ["a succeeded", "b succeeded"])
    try expect(makeStore().state.journaledCalls.map { try $0.result?.get() }, equals: ["1", "2"])
    subscription?.cancel()
  }

  @Test func `Calls of earlier names are shown in the store of the mutation`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage, name: "alias")
    try await leaveCalls(["b"], in: storage, name: "registered")
    try await leaveCalls(["c"], in: storage)
    try await leaveCalls(["x"], in: storage, name: "another")
    let program = Program(storage)
    let journal = program.makeJournal()
    let mutation = Send(server: self.server, script: self.script).scope("s")
      .journaled(as: "send", aliases: ["alias"], failsForGood: .where { _ in false })
    let store = program.client.store(for: mutation)
    expect(store.calls, equals: ["a waiting", "c waiting"])
    journal.register(mutation, as: "send")
    journal.register(mutation, as: "registered")
    expect(store.calls, equals: ["a waiting", "b waiting", "c waiting"])
    let warnings = try await warningCodes {
      let resumption = await journal.resume()
      for _ in 0..<3 { try await self.script.next().succeed("ok") }
      await resumption.settled()
    }
    expect(warnings, equals: [.journalNameUnregistered])
    expect(store.calls, equals: ["a succeeded", "b succeeded", "c succeeded"])
  }

  @Test func `Arguments of a later version are nil, and the call is shown`() async throws {
    let storage = InMemoryStorage()
    let later = Program(storage)
    _ = later.makeJournal()
    let newer = Send(server: self.server, script: self.script).waits(until: self.network).scope("s")
      .journaled(as: "send", version: 2)
    let call = Task.immediate { try await later.client.store(for: newer).mutate(with: Note(id: 1, text: "a")) }
    let program = Program(storage)
    _ = program.makeJournal()
    let store = program.client.store(for: self.mutation)
    expect(store.calls, equals: ["? waiting"])
    call.cancel()
    _ = await call.result
  }

  @Test func `A store shows the calls of the journal that the client has now`() async throws {
    let first = InMemoryStorage()
    let second = InMemoryStorage()
    try await leaveCalls(["a"], in: first)
    try await leaveCalls(["b"], in: second)
    let program = Program(first)
    let store = program.client.store(for: self.mutation)
    let old = program.makeJournal()
    expect(store.calls, equals: ["a waiting"])
    program.client.journal = MutationJournal(storage: second)
    expect(store.calls, equals: ["b waiting"])
    #expect(await old.remove("old1"))
    expect(store.calls, equals: ["b waiting"])
  }

  @Test func `A store of a journal of its own shows that one's calls`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a"], in: storage)
    let journal = MutationJournal(storage: storage)
    let mutation = Send(server: self.server, script: self.script).scope("s").journaled(as: "send", in: journal)
    let store = OperationStore.detached(mutation: mutation)
    expect(store.calls, equals: ["a waiting"])
    #expect(await journal.remove("old1"))
    expect(store.calls, equals: [])
  }

  // MARK: - Signing out

  @Test func `After all entries were removed no store shows a call, also none that had ended`() async throws {
    let storage = InMemoryStorage()
    try await leaveCalls(["a", "b"], in: storage)
    try await leaveCalls(["x"], in: storage, scope: nil, name: "other")
    let program = Program(storage)
    let journal = program.makeJournal()
    journal.register(self.mutation, as: "send")
    let store = program.client.store(for: self.mutation)
    let other = program.client.store(
      for: Send(server: self.server, script: self.script, path: ["other"]).journaled(as: "other")
    )
    self.script.enqueue(.value("ok"))
    _ = try await warningCodes {
      let resumption = await journal.resume()
      let run = try await self.script.next()
      expect(store.calls, equals: ["a succeeded", "b running"])
      #expect(await journal.removeAll(named: ["send"]))
      expect(store.calls, equals: [])
      expect(other.calls, equals: ["x waiting"])
      // A call that is being made continues, and is not shown when it ends.
      run.succeed("ok")
      await resumption.settled()
    }
    expect(store.calls, equals: [])
    #expect(await journal.removeAll())
    expect(other.calls, equals: [])
    #expect(try await storage.keys().isEmpty)
    #expect(Program(storage).makeJournal().entries.isEmpty)
  }

  @Test func `Entries that could not be removed stay, and are reported`() async throws {
    let storage = TestStorage()
    try await leaveCalls(["a", "b"], in: storage)
    let program = Program(storage)
    let journal = program.makeJournal()
    let store = program.client.store(for: self.mutation)
    storage.failToWrite(true)
    let warnings = await warningCodes { #expect(await !journal.removeAll()) }
    expect(warnings, equals: [.storageFailed, .storageFailed])
    expect(store.calls, equals: ["a waiting", "b waiting"])
    storage.failToWrite(false)
    #expect(await journal.removeAll())
    expect(store.calls, equals: [])
  }

  // MARK: - Many

  @Test func `Stores that are released leave nothing in the journal`() async throws {
    let journal = Program().makeJournal()
    let lifetimes = LifetimeTracker()
    do {
      let token = lifetimes.token()
      let mutation = Send(server: self.server, script: self.script)
        .journaled(
          as: "send",
          version: 2,
          in: journal,
          migrate: { _, _ in
            token.touch()
            throw Refused()
          }
        )
      for _ in 0..<3 { expect(OperationStore.detached(mutation: mutation).calls, equals: []) }
    }
    try await lifetimes.noneAlive()
  }
}

extension OperationStore where State == MutationState<Note, String, any Error> {
  fileprivate var calls: [String] { self.state.texts }
}

extension MutationState where Arguments == Note {
  fileprivate var texts: [String] { self.journaledCalls.map { "\($0.arguments?.text ?? "?") \($0.status)" } }
}
