package import OperationCore

/// A query that returns its number.
package struct NumberQuery: QueryRequest, Hashable {
  package var number: Int

  package init(_ number: Int) {
    self.number = number
  }

  package var path: OperationPath { ["numbers", self.number] }

  package func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    self.number
  }
}
