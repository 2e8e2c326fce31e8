import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Values and calls of one storage, over two starts of a program.
@Suite(.bounded, .warningsAreIssues) struct RestartTests {
  @Test func `A program that is started again begins with its value, and has sent its calls`() async throws {
    let storage = InMemoryStorage()
    let server = NoteServer()
    for start in 0..<2 {
      let client = try await self.beginProgram(storage)
      let id = 1
      let query = NoteQuery(id: id)
        .stale(after: .seconds(60))
        .persisted(as: "note", version: 1)
      let note = client.store(for: query)
      expect(note.currentValue?.name, equals: (start == 0 ? nil : "new"))
      try await note.fetch()

      let rename = RenameNote(server: server)
        .scope("notes")
        .journaled(as: "rename-note")
        .optimistic(on: ["notes"], of: NoteState.self) { note, arguments in note?.name = arguments.name }

      client.journal = MutationJournal(storage: storage)
      client.journal.register(rename, as: "rename-note")
      await client.journal.resume()
      try await client.store(for: rename).mutate(with: Renaming(id: 1, name: "new"))
      let unsent = client.journal.entries.count
      expect(unsent, equals: 0)
      expect(note.currentValue?.name, equals: "new")
      await client.persistence.flush()
    }
  }

  private func beginProgram(_ storage: any PersistentStorage) async throws -> OperationClient {
    let client = OperationClient()
    client.defaultContext.operationStorage = storage
    await client.restore()
    return client
  }
}

private typealias NoteState = QueryState<NamedNote, any Error>

private struct NamedNote: Codable, Sendable {
  var name: String
}

private struct Renaming: Codable, Sendable {
  let id: Int
  let name: String
}

private struct NoteServer: Sendable {}

private struct NoteQuery: QueryRequest {
  let id: Int
  var path: OperationPath { ["notes", self.id] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<NamedNote, any Error>
  ) async throws -> NamedNote {
    NamedNote(name: "old")
  }
}

private struct RenameNote: MutationRequest {
  let server: NoteServer
  let path: OperationPath = ["rename"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Renaming,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {}
}
