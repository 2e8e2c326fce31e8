import Foundation
import Operation
import OperationPersistence
import Requests

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The answer of the server was not a success.
struct UnexpectedAnswer: Error {}

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
    let request = URLRequest(url: self.address.appendingPathComponent("notes"))
    let (data, _) = try await URLSession.shared.response(to: request)
    return try JSONDecoder().decode([Element].self, from: data)
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
    var request = URLRequest(url: self.address.appendingPathComponent("notes"))
    request.httpMethod = "POST"
    request.httpBody = Data(arguments.text.utf8)
    request.setValue(context.operationIdempotencyKey, forHTTPHeaderField: "Idempotency-Key")
    let (_, response) = try await URLSession.shared.response(to: request)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw UnexpectedAnswer() }
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
    var request = URLRequest(url: self.address.appendingPathComponent("notes/\(arguments.id)"))
    request.httpMethod = "PUT"
    request.httpBody = Data(arguments.text.utf8)
    request.setValue(context.operationIdempotencyKey, forHTTPHeaderField: "Idempotency-Key")
    request.setValue(context.operationBaseVersion, forHTTPHeaderField: "If-Match")
    let (data, response) = try await URLSession.shared.response(to: request)
    switch (response as? HTTPURLResponse)?.statusCode {
    case 200: return
    case 412: throw NoteConflict(current: try JSONDecoder().decode(Note.self, from: data))
    default: throw UnexpectedAnswer()
    }
  }
}
