import FoundationEssentials
import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Arguments that `excluding:` keeps from being stored, whichever way a call gets them.
@Suite(.bounded, .warningsAreIssues) struct JournalExclusionTests {
  private let server = VersionedServer()
  private let door = Door()
  private let storage = InMemoryStorage()
  private let program: Program
  private let journal: MutationJournal

  init() {
    self.server.edit(1, "base")
    self.server.edit(1, "theirs")
    self.program = Program(self.storage)
    self.journal = self.program.makeJournal()
  }

  private let excluded = StorageExclusion<Note>.where { $0.text.contains("secret") }

  /// Asserts that the storage has something, and nothing that may not be stored.
  private func expectOnlyPublicBytes() async throws {
    let entries = try await self.storage.entries(withPrefix: "")
    #expect(!entries.isEmpty)
    for entry in entries { #expect(!String(decoding: entry.value, as: UTF8.self).contains("secret")) }
  }

  @Test(arguments: [false, true]) func `Arguments of a conflict are sent, and the earlier ones stay stored`(
    isOutside: Bool
  ) async throws {
    func store(
      _ mutation: some MutationRequest<Note, String, any Error>
    ) -> OperationStore<
      MutationState<Note, String, any Error>
    > {
      self.journal.register(mutation, as: "save")
      return self.program.client.store(for: mutation)
    }
    let resolve: @Sendable (ConflictedCall<Note>, ServerNote) async -> ConflictResolution<Note> = { call, current in
      self.door.close()
      let both = Note(id: 1, text: "\(current.text)+secret+\(call.arguments.text)")
      return .retry(with: both, basedOn: "\(current.version)")
    }
    let save = SaveNote(server: self.server, door: self.door)
    let saving =
      isOutside
      ? store(
        save.scope("s").journaled(as: "save", excluding: self.excluded)
          .resolvesConflicts(of: NoteConflict.self, resolve)
      )
      : store(
        save.resolvesConflicts(of: NoteConflict.self, resolve).scope("s")
          .journaled(as: "save", excluding: self.excluded)
      )
    let call = saving.save("mine")
    try await self.door.arrival()
    expect(self.journal.texts, equals: ["mine"])
    try await self.expectOnlyPublicBytes()
    self.door.open()
    try await expect(call.value, equals: "3")
    expect(self.server.requests.map(\.text), equals: ["mine", "theirs+secret+mine"])
    expect(Set(self.server.requests.map(\.key)).count, equals: 2)
    #expect(self.journal.entries.isEmpty)
    #expect(try await self.storage.keys().isEmpty)
  }

  @Test func `A decision about a conflict with such arguments is refused, and the conflict stays open`() async throws {
    let mutation = SaveNote(server: self.server)
      .resolvesConflicts(of: NoteConflict.self) { _, _ in .ask }
      .scope("s").journaled(as: "save", excluding: self.excluded)
    self.journal.register(mutation, as: "save")
    let call = self.program.client.store(for: mutation).save("mine")
    await #expect { try await call.value } throws: { ($0 as? JournalError)?.code == .conflicted }
    let conflict = try #require(self.journal.conflicts(of: mutation, as: ServerNote.self).first)
    await #expect {
      try await self.journal.resolve(conflict, with: .retry(with: Note(id: 1, text: "secret"), basedOn: "2"))
    } throws: {
      ($0 as? JournalError)?.code == .notStored && "\($0)".contains("`excluding:`")
    }
    try await self.expectOnlyPublicBytes()
    expect(self.server.requests.count, equals: 1)
    #expect(try await self.journal.resolve(conflict, with: .retry(with: Note(id: 1, text: "both"), basedOn: "2")))
    try await self.journal.entries(count: 0)
    expect(self.server[1]?.text, equals: "both")
  }

  @Test func `Calls are not merged into one with such arguments`() async throws {
    let script = Script()
    let both: JournalPolicy<Note> = .merge(by: \.id) { old, new in
      Note(id: new.id, text: old.text == "a" ? "a+\(new.text)" : "secret")
    }
    let send = Send(server: Server(), script: script)
    let mutation = send.scope("s").journaled(as: "send", policy: both, excluding: self.excluded)
    let store = self.program.client.store(for: mutation)
    let calls = ["first", "a", "b", "c"].map { text in
      Task.immediate { try await store.mutate(with: Note(id: 1, text: text)) }
    }
    try await self.journal.entries(count: 3)
    expect(self.journal.texts, equals: ["first", "a+b", "c"])
    try await self.expectOnlyPublicBytes()
    for _ in 0..<3 { try await script.next().succeed("ok") }
    for call in calls { try await expect(call.value, equals: "ok") }
    #expect(self.journal.entries.isEmpty)
  }
}
