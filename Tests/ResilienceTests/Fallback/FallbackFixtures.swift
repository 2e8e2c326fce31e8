import OperationCore
import OperationTesting
import TestFixtures

extension OperationContext {
  var mark: Int {
    get { self[MarkKey.self] }
    set { self[MarkKey.self] = newValue }
  }

  private enum MarkKey: Key {
    static let defaultValue = 0
  }
}

/// Adds the mark of its context to the value of an operation.
struct Probing<Base: OperationRequest & Sendable>: OperationRequest, Sendable
where Base.Value == Int, Base.Failure == any Error {
  let base: Base

  func setup(context: inout OperationContext) {
    self.base.setup(context: &context)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    context.mark + (try await self.base.run(isolation: isolation, in: context, with: continuation))
  }
}
