import OperationCore
import OperationFallback

struct ServiceUnavailable: Error {}

struct RecommendationsQuery: QueryRequest, Hashable {
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[String], any Error>
  ) async throws -> [String] { sample() }
}

struct ReplicaQuery: QueryRequest, Hashable {
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[String], any Error>
  ) async throws -> [String] { sample() }
}

struct Notes: Sendable {
  func append(_ isFallback: Bool) {}
}

let notes = Notes()
