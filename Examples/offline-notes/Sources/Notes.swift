import Foundation
import Operation
import OperationHTTP
import OperationPersistence

/// A note. Each change of its text gives it another version.
struct Note: Codable, Equatable, Sendable {
  let id: Int
  var text: String
  var version: Int
}

/// The server has another version of a note than a change is based on.
struct NoteConflict: MutationConflict {
  let current: Note
}

/// The notes that the server has, in order, in the form that a version of the program knows.
struct NotesQuery<Element: Codable & Sendable>: QueryRequest {
  typealias State = QueryState<[Element], any Error>

  let address: URL
  let path: OperationPath = ["notes"]

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[Element], any Error>
  ) async throws -> [Element] {
    try await context.send(OperationHTTPRequest(self.address.appending(path: "notes"))).decoded()
  }
}

/// Adds a note. By the key of the call, the server knows whether it has the note already.
struct AddNote: MutationRequest {
  struct Arguments: Codable, Sendable {
    let text: String
  }

  let address: URL
  let path: OperationPath = ["add-note"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    var request = OperationHTTPRequest(self.address.appending(path: "notes"), method: "POST")
    request.body = Data(arguments.text.utf8)
    request.fields["Idempotency-Key"] = context.operationIdempotencyKey
    _ = try await context.send(request)
  }
}

/// What a change says, in any version of the program.
protocol NoteChange: Codable, Sendable {
  var id: Int { get }
  var text: String { get }
}

/// Changes the text of a note, unless the server has another version than the one that the change is based on.
struct ChangeNote<Arguments: NoteChange>: MutationRequest {
  let address: URL
  let path: OperationPath = ["change-note"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    var request = OperationHTTPRequest(self.address.appending(path: "notes/\(arguments.id)"), method: "PUT")
    request.body = Data(arguments.text.utf8)
    request.fields["Idempotency-Key"] = context.operationIdempotencyKey
    request.fields["If-Match"] = context.operationBaseVersion
    do {
      _ = try await context.send(request)
    } catch let error as OperationHTTPStatusError where error.status == 412 {
      throw NoteConflict(current: try JSONDecoder().decode(Note.self, from: error.body))
    }
  }
}
