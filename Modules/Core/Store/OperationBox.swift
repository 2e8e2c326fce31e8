/// An operation with its type erased down to its state.
class OperationBox<State: OperationState & Sendable>: @unchecked Sendable {
  // Unchecked because a class that is subclassed cannot be checked; the one subclass holds an immutable operation.
  var path: OperationPath { preconditionFailure("Overridden by TypedOperationBox.") }
  var unmodifiedType: any OperationRequest.Type { preconditionFailure("Overridden by TypedOperationBox.") }
  var canRunUnasked: Bool { preconditionFailure("Overridden by TypedOperationBox.") }

  func run(
    in context: OperationContext,
    with continuation: OperationContinuation<State.OperationValue, State.Failure>
  ) async -> Result<State.OperationValue, State.Failure> {
    preconditionFailure("Overridden by TypedOperationBox.")
  }

  func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool {
    preconditionFailure("Overridden by TypedOperationBox.")
  }
}

final class TypedOperationBox<Operation: StatefulOperationRequest>: OperationBox<Operation.State>, @unchecked Sendable {
  // Unchecked as its base class is; all it adds is this immutable Sendable value.
  private let operation: Operation

  init(_ operation: Operation) {
    self.operation = operation
  }

  override var path: OperationPath { self.operation.path }
  override var unmodifiedType: any OperationRequest.Type { Operation.unmodifiedType }
  override var canRunUnasked: Bool { self.operation.canRunUnasked }

  override func run(
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.State.OperationValue, Operation.State.Failure>
  ) async -> Result<Operation.State.OperationValue, Operation.State.Failure> {
    do throws(Operation.State.Failure) {
      return .success(try await self.operation.run(isolation: nil, in: context, with: continuation))
    } catch {
      return .failure(error)
    }
  }

  override func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool {
    self.operation.isSameRun(in: context, as: other)
  }
}
