public import OperationCore

extension MutationRequest {
  /// Marks stores as stale when a call has succeeded, and reruns those with subscribers.
  ///
  /// The caller does not wait for the reruns. In a fleet it waits until no other process reads what was invalidated, as the
  /// documentation of `OperationFleet` says. An optimistic update of the same mutation is shown in these stores until the rerun
  /// has fetched a value: see ``optimistic(on:of:apply:)-(OperationPath,_,_)``.
  ///
  /// - Parameter path: The prefix of the paths of the stores.
  /// - Returns: The mutation with the invalidation around it.
  public func invalidates(
    matching path: OperationPath
  ) -> ModifiedOperation<Self, MutationInvalidation<Self>> {
    self.invalidates { _ in path }
  }

  /// Marks stores as stale when a call has succeeded, and reruns those with subscribers.
  ///
  /// See ``invalidates(matching:)-(OperationPath)``.
  ///
  /// - Parameter path: Returns the prefix of the paths of the stores for the arguments of the call.
  /// - Returns: The mutation with the invalidation around it.
  public func invalidates(
    matching path: @escaping @Sendable (Arguments) -> OperationPath
  ) -> ModifiedOperation<Self, MutationInvalidation<Self>> {
    self.modifier(MutationInvalidation(path: path))
  }
}

/// The modifier that `.invalidates(matching:)` applies: marks stores stale when a call has succeeded.
public struct MutationInvalidation<Operation: MutationRequest>: OperationModifier {
  let path: @Sendable (Operation.Arguments) -> OperationPath

  init(path: @escaping @Sendable (Operation.Arguments) -> OperationPath) {
    self.path = path
  }

  public static var beginsAtOnce: Bool { true }

  public var sourceText: String { ".invalidates(…)" }

  public func setup(context: inout OperationContext, using operation: Operation) {
    context.performEffectsOfRuns()
    operation.setup(context: &context)
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.MutateValue, Operation.MutateFailure>
  ) async throws(Operation.MutateFailure) -> Operation.MutateValue {
    try await operation.run(isolation: isolation, in: context, with: continuation) { call, outcome in
      // Also when the call was cancelled: its work has succeeded, and may have changed the server.
      guard outcome.isSuccess else { return }
      call.share.effects.invalidate(self.path(call.arguments), in: call.client, by: operation.operationName)
    }
  }
}
