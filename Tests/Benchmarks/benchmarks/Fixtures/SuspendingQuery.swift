internal import OperationCore

/// A query that suspends once, until another thread has run an empty task.
struct SuspendingQuery: QueryRequest, Hashable {
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    await Task.detached {}.value
    return 1
  }
}
