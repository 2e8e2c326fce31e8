import Operation
import OperationPersistence

struct NoteChange: Codable, Sendable {
  let id: Int
  let text: String
}

struct NoteVersion: Codable, Sendable {
  let id: Int
  let text: String
  let version: String
  let device: String
}

struct NoteAnswer: Sendable {
  let statusCode: Int
  let note: NoteVersion
}

struct NoteServerError: Error {
  let statusCode: Int
}

struct NoteServer: Sendable {
  func put(_ change: NoteChange, ifMatch: String?, idempotencyKey: String?) async throws -> NoteAnswer { sample() }

  func note() async throws -> NoteVersion { sample() }
}

let noteServer = NoteServer()
let shown: NoteVersion = sample()
let thisDevice = ""

func merge(_ mine: String, _ theirs: String) -> String? { sample() }
