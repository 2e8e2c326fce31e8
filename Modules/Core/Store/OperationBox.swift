/// An operation with its type erased down to its state.
///
/// It is made of closures, not of overridden methods, so that what is made where the operation's type is known calls the
/// operation directly.
@usableFromInline
struct OperationBox<State: OperationState & Sendable>: Sendable {
  @usableFromInline
  typealias Continuation = OperationContinuation<State.OperationValue, State.Failure>

  @usableFromInline let path: OperationPath
  @usableFromInline let unmodifiedType: any OperationRequest.Type
  @usableFromInline let canRunUnasked: Bool
  @usableFromInline
  let run:
    nonisolated(nonsending) @Sendable (OperationContext, Continuation) async -> Result<
      State.OperationValue, State.Failure
    >
  @usableFromInline let isSameRun: @Sendable (OperationContext, OperationContext) -> Bool

  @inlinable
  init<Operation: StatefulOperationRequest>(_ operation: Operation) where Operation.State == State {
    self.path = operation.path
    self.unmodifiedType = Operation.unmodifiedType
    self.canRunUnasked = operation.canRunUnasked
    self.run = { context, continuation in
      do throws(State.Failure) {
        return .success(try await operation.run(isolation: nil, in: context, with: continuation))
      } catch {
        return .failure(error)
      }
    }
    self.isSameRun = { context, other in operation.isSameRun(in: context, as: other) }
  }
}
