public import Operation

// Notes, which are read and renamed.

public typealias NoteState = QueryState<Note, any Error>

public struct Note: Codable, Sendable {
  public var name: String
}

public struct NoteQuery: QueryRequest, Hashable {
  public let id: Int

  public init(id: Int) {
    self.id = id
  }

  public var path: OperationPath { ["notes", self.id] }

  public func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Note, any Error>
  ) async throws -> Note { sample() }
}

public struct Renaming: Codable, Sendable {
  public let id: Int
  public let name: String
}

public struct RenameNote: MutationRequest {
  public let path: OperationPath = ["rename"]

  public init(server: Server) {}

  public func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Renaming,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {}
}
