/// An operation with its type erased down to its state.
///
/// It is made of closures, not of overridden methods, so that what is made where the operation's type is known calls the
/// operation directly.
@usableFromInline
struct OperationBox<State: OperationState & Sendable>: Sendable {
  @usableFromInline typealias Continuation = OperationContinuation<State.OperationValue, State.Failure>
  @usableFromInline typealias Outcome = Result<State.OperationValue, State.Failure>
  @usableFromInline
  typealias Run = nonisolated(nonsending) @Sendable (OperationContext, Continuation) async -> Outcome

  @usableFromInline let path: OperationPath
  @usableFromInline let unmodifiedType: any OperationRequest.Type
  @usableFromInline let canRunUnasked: Bool
  @usableFromInline let run: Run
  @usableFromInline let isSameRun: @Sendable (OperationContext, OperationContext) -> Bool

  @inlinable
  init<Operation: StatefulOperationRequest>(_ operation: Operation) where Operation.State == State {
    self.path = operation.path
    self.unmodifiedType = Operation.unmodifiedType
    self.canRunUnasked = operation.canRunUnasked
    // One object for both closures, which then need none of their own.
    let kept = KeptOperation(operation)
    self.run = { context, continuation in
      do throws(State.Failure) {
        return .success(try await kept.operation.run(isolation: nil, in: context, with: continuation))
      } catch {
        return .failure(error)
      }
    }
    self.isSameRun = { context, other in kept.operation.isSameRun(in: context, as: other) }
  }
}

@usableFromInline
final class KeptOperation<Operation: StatefulOperationRequest>: Sendable {
  @usableFromInline let operation: Operation

  @inlinable
  init(_ operation: Operation) {
    self.operation = operation
  }
}
