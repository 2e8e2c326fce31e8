import OperationCore
import OperationMutation
import OperationPersistence
import OperationTesting
import Synchronization
import Testing

/// A note as a server has it.
struct ServerNote: Codable, Hashable, Sendable {
  var text: String
  var version: Int
}

/// The error of a call that is based on another version than the server has.
struct NoteConflict: MutationConflict, Equatable {
  let current: ServerNote
}

/// A server whose notes have versions, and that does the request of each key once.
final class VersionedServer: Sendable {
  struct Request: Hashable, Sendable {
    let key: String?
    let text: String
    let base: String?
  }

  private struct State: Sendable {
    var notes: [Int: ServerNote] = [:]
    var requests: [Request] = []
    var keys: Set<String> = []
    var losesAnswer = false
  }

  private let state = Mutex(State())

  var requests: [Request] { self.state.withLock { $0.requests } }

  subscript(id: Int) -> ServerNote? { self.state.withLock { $0.notes[id] } }

  /// Changes a note as another device does.
  func edit(_ id: Int, _ text: String) {
    self.state.withLock { state in
      state.notes[id] = ServerNote(text: text, version: (state.notes[id]?.version ?? 0) + 1)
    }
  }

  /// Makes the answer to the next request that is done a failure.
  func loseNextAnswer() { self.state.withLock { $0.losesAnswer = true } }

  func save(_ note: Note, basedOn base: String?, key: String?) throws -> String {
    try self.state.withLock { state in
      state.requests.append(Request(key: key, text: note.text, base: base))
      let current = state.notes[note.id] ?? ServerNote(text: "", version: 0)
      if let key, state.keys.contains(key) { return "repeated" }
      if let base, base != "\(current.version)" { throw NoteConflict(current: current) }
      if let key { state.keys.insert(key) }
      state.notes[note.id] = ServerNote(text: note.text, version: current.version + 1)
      defer { state.losesAnswer = false }
      if state.losesAnswer { throw Broken() }
      return "\(current.version + 1)"
    }
  }
}

/// A gate that a test can close again.
final class Door: Sendable {
  private let gate = Mutex(Gate(isOpen: true))

  private var current: Gate { self.gate.withLock { $0 } }

  func close() { self.gate.withLock { $0 = Gate() } }

  func open() { self.current.open() }

  /// Opens it for those who wait, and closes it for those who come later.
  func letPass() {
    let gate = self.current
    self.close()
    gate.open()
  }

  func pass() async throws { try await self.current.wait() }

  /// Waits until somebody waits.
  func arrival() async throws { try await self.current.arrivals(count: 1) }
}

/// A storage whose writes wait at a door.
final class HeldStorage<Base: PersistentStorage>: PersistentStorage {
  let base: Base
  let door = Door()

  init(_ base: Base) { self.base = base }

  convenience init() where Base == InMemoryStorage { self.init(InMemoryStorage()) }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    try await self.door.pass()
    return try await self.base.apply(batch, if: conditions)
  }

  nonisolated(nonsending) func close() async { await self.base.close() }
}

/// Saves a note, unless the server has another version than the call is based on.
struct SaveNote: MutationRequest {
  let server: VersionedServer
  /// Each request passes it before it reaches the server.
  var door = Door()
  var path: OperationPath = ["save"]

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Note,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    try await self.door.pass()
    return try self.server.save(arguments, basedOn: context.operationBaseVersion, key: context.operationIdempotencyKey)
  }
}

extension OperationStore where State == MutationState<Note, String, any Error> {
  /// Begins to save a note that is based on a version.
  func save(_ text: String, basedOn base: String? = "1", id: Int = 1) -> Task<String, any Error> {
    Task.immediate {
      var context = OperationContext()
      context.operationBaseVersion = base
      return try await self.mutate(with: Note(id: id, text: text), using: context)
    }
  }
}
