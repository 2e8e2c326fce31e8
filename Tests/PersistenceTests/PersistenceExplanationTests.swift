import OperationCore
import OperationEvents
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// What explanations and events tell of storages and journals.
@Suite(.bounded, .warningsAreIssues)
struct PersistenceExplanationTests {
  private func store(in program: Program) -> OperationStore<QueryState<Int, any Error>> {
    let query = GetPost(script: OperationScript()).stale(after: .seconds(60))
    return program.client.store(for: query.persisted(as: "post", version: 2))
  }

  @Test func `A value that was restored from a storage`() async throws {
    let program = Program()
    self.store(in: program).currentValue = 1
    await program.client.persistence.flush()
    program.clock.advance(by: .seconds(10))
    let restarted = program.restarted()
    let events = restarted.client.events
    let store = self.store(in: restarted)
    expect(
      store.explanationText,
      equals: """
        GetPost at ["posts", 1]
        It has a value (Int), set 10 s ago.
        It was restored from a storage.
        It is fresh for 50 s more.
        It has no subscribers.
        Storage: post, version 2; stored, or about to be
        Next: it becomes stale in 50 s.
        """
    )
    let event = try #require(
      try await withTimeLimit("the event") { await events.first { $0.what.name == "state.written" } }
    )
    expect("\(event)", equals: "GetPost at [\"posts\", 1]: a stored state was restored")
    expect(event.cause?.kind, equals: .restoration)
    store.currentValue = 2
    expect(store.explain().value?.origin, equals: nil)
  }

  @Test func `A store whose value is being read, and one without a storage`() async throws {
    let storage = TestStorage(reads: false)
    let store = self.store(in: Program(storage))
    #expect(
      store.explain().description.contains(
        "\nThe value that an earlier store had is being read from the storage.\n"
      )
    )
    expect(store.explain().sections.first?.facts, equals: ["post, version 2", "nothing is stored"])
    storage.reading.open()
    await store.settled()
  }

  @Test func `A call of a journal waits behind another one`() async throws {
    let program = Program()
    let journal = program.makeJournal()
    let script = Script()
    let send = Send(server: Server(), script: script).scope("notes").journaled(as: "send")
    let store = program.client.store(for: send)
    let events = program.client.events
    _ = store.explain()  // From now on, the store remembers notices.
    let first = Task.immediate { try await store.mutate(with: Note(id: 1, text: "a")) }
    let run = try await script.next()
    let second = Task.immediate { try await store.mutate(with: Note(id: 2, text: "b")) }
    _ = try await withTimeLimit("the wait") { await events.first { $0.what.name == "run.waits" } }
    program.clock.advance(by: .seconds(2))
    expect(
      store.explanationText,
      equals: """
        Send at ["send"]
        It has no value.
        It has no subscribers.
        It runs only when it is called.
        A run is under way: started 2 s ago by a call.
        A run is under way: started 2 s ago by a call; it has waited for 2 s for its turn in the journal, behind 1 earlier \
        call of its scope.
        Journal: send: 2 calls stored; 1 being made; 1 waiting
        Notices: journal.accepted journal.name=send 2 s ago; journal.accepted journal.name=send 2 s ago.
        """
    )
    run.succeed("ok")
    _ = try await withTimeLimit("the first call") { try await first.value }
    try await script.next().succeed("ok")
    _ = try await withTimeLimit("the second call") { try await second.value }
    try await journal.entries(count: 0)
    expect(store.explain().sections, equals: [.init(title: "Journal", facts: ["send: 0 calls stored"])])
  }
}
