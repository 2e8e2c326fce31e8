internal import OperationCore

/// A call that a modifier with effects runs.
struct CallWithEffects<Arguments: Sendable> {
  let arguments: Arguments
  let client: OperationClient
  let share: MutationEffects.Share
}

extension MutationRequest {
  /// Runs a call inside of a modifier, which has a share in the effects of the call.
  ///
  /// A call without arguments or without a client runs without the modifier's effects.
  ///
  /// - Parameters:
  ///   - isolation: The actor of the caller.
  ///   - context: The context of the call.
  ///   - continuation: Receives what the call yields.
  ///   - begin: Called before the call.
  ///   - end: Called after the call, with its outcome, before the modifier leaves the effects.
  /// - Returns: The value of the call.
  /// - Throws: The error of the call.
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<MutateValue, MutateFailure>,
    begin: (CallWithEffects<Arguments>) -> Void = { _ in },
    end: (CallWithEffects<Arguments>, Result<MutateValue, MutateFailure>) -> Void
  ) async throws(MutateFailure) -> MutateValue {
    guard
      let arguments = context.mutationArguments(as: Arguments.self),
      let client = context.clientForEffects(of: self.path)
    else { return try await self.run(isolation: isolation, in: context, with: continuation) }

    var context = context
    let share = MutationEffects.join(in: &context)
    let call = CallWithEffects(arguments: arguments, client: client, share: share)
    begin(call)
    let outcome = await self.outcome(isolation: isolation, in: context, with: continuation)
    end(call, outcome)
    share.leave(isSuccess: outcome.isSuccess)
    return try outcome.get()
  }
}
