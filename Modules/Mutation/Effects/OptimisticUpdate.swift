public import OperationCore

extension MutationRequest {
  /// Shows the expected effect of a call in the stores of other operations while the call is active.
  ///
  /// ```swift
  /// CreatePost().optimistic(on: ["feed"], of: Feed.State.self) { feed, arguments in
  ///   feed?.insert(Post(draft: arguments), at: 0)
  /// }
  /// ```
  ///
  /// The update is a layer over the value of each matching store of the client, including stores that are created
  /// during the call. Layers are applied in the order in which their calls began, and are applied again to each new
  /// value of the store. A call that is made again from a journal has the place that it had when it was accepted.
  ///
  /// - If the call fails or is cancelled, its layer is removed. Other layers and the value are not changed. A call that
  ///   stays in a journal, which makes it again, keeps its layer.
  /// - If the call succeeds, the update becomes part of the value.
  /// - In stores that ``invalidates(matching:)-(OperationPath)`` names, the refetched value replaces the layer instead.
  ///   If no refetch runs, or if it fails or is cancelled, the update becomes part of the value.
  ///
  /// A call is what its caller waits for: if a retry makes several attempts, inside or outside of this modifier, the
  /// update is shown from the first attempt to the end of the last.
  ///
  /// - Parameters:
  ///   - path: The prefix of the paths of the stores.
  ///   - state: The state of the stores, or the state to which they add a default value. Stores with another state are
  ///     not changed. If stores match when the call begins and none of them has this state, this is reported.
  ///   - apply: Makes the update. It is called again whenever the value below changes, on any thread and with no lock
  ///     held, so it must depend on its arguments only.
  /// - Returns: The mutation with the update around it.
  public func optimistic<Target: OverlayableState & Sendable>(
    on path: OperationPath,
    of state: Target.Type,
    apply: @escaping @Sendable (inout Target.StateValue, Arguments) -> Void
  ) -> ModifiedOperation<Self, OptimisticUpdate<Self, Target>> {
    self.optimistic(on: { _ in path }, of: state, apply: apply)
  }

  /// Shows the expected effect of a call in the stores of other operations while the call is active.
  ///
  /// See ``optimistic(on:of:apply:)-(OperationPath,_,_)``.
  ///
  /// - Parameters:
  ///   - path: Returns the prefix of the paths of the stores for the arguments of the call.
  ///   - state: The state of the stores, or the state to which they add a default value. Other stores are not changed.
  ///   - apply: Makes the update.
  /// - Returns: The mutation with the update around it.
  public func optimistic<Target: OverlayableState & Sendable>(
    on path: @escaping @Sendable (Arguments) -> OperationPath,
    of state: Target.Type,
    apply: @escaping @Sendable (inout Target.StateValue, Arguments) -> Void
  ) -> ModifiedOperation<Self, OptimisticUpdate<Self, Target>> {
    self.modifier(OptimisticUpdate(path: path, apply: apply))
  }
}

/// The modifier that `.optimistic(on:of:apply:)` applies: shows the expected effect of a call in other stores.
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

  public static var beginsAtOnce: Bool { true }

  public var sourceText: String { ".optimistic(…)" }

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
    try await operation.run(
      isolation: isolation,
      in: context,
      with: continuation,
      showing: self.id,
      as: { arguments, client, place in self.layer(of: arguments, in: client, at: place, by: operation) }
    )
  }

  private func layer(
    of arguments: Operation.Arguments,
    in client: OperationClient,
    at place: StateLayerPlace,
    by operation: Operation
  ) -> OptimisticLayer<Target> {
    OptimisticLayer(on: self.path(arguments), in: client, at: place, by: operation.operationName) { [apply] in
      apply(&$0, arguments)
    }
  }
}

extension OptimisticUpdate: UpdatingModifier {
  package func showUpdate(_ request: UpdateRequest, of operation: any OperationRequest) {
    guard let operation = operation as? Operation, let arguments = request.arguments as? Operation.Arguments else {
      return
    }
    request.show(self.id) { self.layer(of: arguments, in: request.client, at: $0, by: operation) }
  }
}
