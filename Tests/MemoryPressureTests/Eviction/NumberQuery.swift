import OperationCore

/// A query that returns its number.
struct NumberQuery: QueryRequest, Hashable {
  var number: Int

  init(_ number: Int) {
    self.number = number
  }

  var path: OperationPath { ["numbers", self.number] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    self.number
  }
}
