public import OperationCore

extension MutationRequest {
  /// Shows what a call will bring about in the stores of other operations while the call is under way.
  ///
  /// ```swift
  /// CreatePost().optimistic(on: ["feed"], of: Feed.State.self) { feed, arguments in
  ///   feed?.insert(Post(draft: arguments), at: 0)
  /// }
  /// ```
  ///
  /// The update is a layer over the value of each store of the client that matches, those included that come while the
  /// call is under way; layers are applied in the order in which their calls have begun. A value that arrives beneath
  /// is shown with the layers over it. When the call fails or is cancelled its own layer goes and all else stays. When
  /// it succeeds the update becomes part of the value or, in stores that ``invalidates(matching:)-(OperationPath)``
  /// names, goes with the arrival of the refetch; where none runs, or it fails or is cancelled, the update becomes part
  /// of the value after all.
  ///
  /// A call is what its caller waits for. Where a retry makes several attempts of it, inside or outside of this modifier,
  /// the update shows from the first of them to the end of the last.
  ///
  /// - Parameters:
  ///   - path: The prefix of the paths of the stores.
  ///   - state: The state of the stores, or the one that they show with a default value; others are left alone. That there
  ///     are stores when the call begins, and none has it, is reported.
  ///   - apply: Makes the update. It is called again whenever the value beneath changes, from any thread, while no lock is
  ///     held: let it depend on nothing but what it is given.
  public func optimistic<Target: OverlayableState & Sendable>(
    on path: OperationPath,
    of state: Target.Type,
    apply: @escaping @Sendable (inout Target.StateValue, Arguments) -> Void
  ) -> ModifiedOperation<Self, OptimisticUpdate<Self, Target>> {
    self.optimistic(on: { _ in path }, of: state, apply: apply)
  }

  /// Shows what a call will bring about in the stores of other operations while the call is under way.
  ///
  /// See ``optimistic(on:of:apply:)-(OperationPath,_,_)``.
  ///
  /// - Parameters:
  ///   - path: Makes the prefix of the paths of the stores from the arguments of the call.
  ///   - state: The state of the stores, or the one that they show with a default value; others are left alone.
  ///   - apply: Makes the update.
  public func optimistic<Target: OverlayableState & Sendable>(
    on path: @escaping @Sendable (Arguments) -> OperationPath,
    of state: Target.Type,
    apply: @escaping @Sendable (inout Target.StateValue, Arguments) -> Void
  ) -> ModifiedOperation<Self, OptimisticUpdate<Self, Target>> {
    self.modifier(OptimisticUpdate(path: path, apply: apply))
  }
}

/// Shows what a call will bring about: what `.optimistic(on:of:apply:)` applies.
public struct OptimisticUpdate<Operation: MutationRequest, Target: OverlayableState & Sendable>: OperationModifier {
  let path: @Sendable (Operation.Arguments) -> OperationPath
  let apply: @Sendable (inout Target.StateValue, Operation.Arguments) -> Void
  private let id = EffectIdentifier()

  init(
    path: @escaping @Sendable (Operation.Arguments) -> OperationPath,
    apply: @escaping @Sendable (inout Target.StateValue, Operation.Arguments) -> Void
  ) {
    self.path = path
    self.apply = apply
  }

  public func setup(context: inout OperationContext, using operation: Operation) {
    context.addRunWrapper(EffectsRunWrapper())
    operation.setup(context: &context)
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.MutateValue, Operation.MutateFailure>
  ) async throws(Operation.MutateFailure) -> Operation.MutateValue {
    guard
      let arguments = context.mutationArguments(as: Operation.Arguments.self),
      let client = context.clientForEffects(of: operation.path)
    else { return try await operation.run(isolation: isolation, in: context, with: continuation) }

    var context = context
    let share = MutationEffects.join(in: &context)
    share.effects.begin(self.id) {
      OptimisticLayer<Target>(on: self.path(arguments), in: client) { [apply] in apply(&$0, arguments) }
    }
    let outcome = await operation.outcome(isolation: isolation, in: context, with: continuation)
    // What a cancelled call did does not count, whatever it returned.
    share.end(self.id, isSuccess: outcome.isSuccess && !Task.isCancelled)
    share.leave(isSuccess: outcome.isSuccess)
    return try outcome.get()
  }
}
