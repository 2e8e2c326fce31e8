import Operation
import OperationPersistence

typealias NoteState = QueryState<Note, any Error>

struct Note: Codable, Sendable {
  var name: String
}

struct NoteQuery: QueryRequest, Hashable {
  let id: Int

  var path: OperationPath { ["notes", self.id] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Note, any Error>
  ) async throws -> Note { sample() }
}

struct Renaming: Codable, Sendable {
  let id: Int
  let name: String
}

struct RenameNote: MutationRequest {
  let server: Server
  let path: OperationPath = ["rename"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Renaming,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {}
}

let folder = ""
