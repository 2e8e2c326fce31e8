import Foundation
import Operation
import OperationPersistence

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The answer of the server was not a success.
struct UnexpectedAnswer: Error {}

/// The notes that the server has, in order.
struct NotesQuery: QueryRequest {
  typealias State = QueryState<[String], any Error>

  let address: URL
  let path: OperationPath = ["notes"]

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[String], any Error>
  ) async throws -> [String] {
    let (data, _) = try await URLSession.shared.data(from: self.address.appendingPathComponent("notes"))
    return try JSONDecoder().decode([String].self, from: data)
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
    let (_, response) = try await URLSession.shared.data(for: request)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw UnexpectedAnswer() }
  }
}
