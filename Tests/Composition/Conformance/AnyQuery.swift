import Operation

/// A query of any type, so that modifiers can be applied in a loop.
struct AnyQuery: QueryRequest {
  typealias Value = Int
  typealias Failure = any Error

  private let base: any QueryRequest<Int, any Error> & Sendable

  init(_ base: some QueryRequest<Int, any Error> & Sendable) {
    self.base = base
  }

  var path: OperationPath { self.base.path }

  func setup(context: inout OperationContext) {
    self.base.setup(context: &context)
  }

  func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool {
    self.base.isSameRun(in: context, as: other)
  }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.base.run(isolation: isolation, in: context, with: continuation)
  }
}
