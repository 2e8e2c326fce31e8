public import OperationCore

/// A call that ``OperationCore/OperationStore/enqueue(with:using:handler:)`` has begun.
///
/// The call goes on without a task that waits for it. Cancelling a task that waits ends the wait, not the call; to end the call,
/// use ``cancel()``.
public struct EnqueuedCall<State: MutationStateProtocol>: Sendable {
  let call: EnqueuedCallState<State.OperationValue, State.Failure>

  /// Whether the call is accepted: a journal has stored it, so that it is made even if the process ends. Without a
  /// journal a call is accepted at once.
  ///
  /// False if the journal has refused the call, or if the current task is cancelled while it waits.
  public var isAccepted: Bool {
    get async {
      if case .success? = await self.call.acceptance.outcome.value() { true } else { false }
    }
  }

  /// Waits until the call is accepted.
  ///
  /// - Throws: The error of the journal that has refused the call, or `CancellationError`.
  public func accepted() async throws {
    guard let outcome = await self.call.acceptance.outcome.value() else { throw CancellationError() }
    try outcome.get()
  }

  /// The value of the call, when it has ended.
  ///
  /// A body that waits for a call of its own scope would wait for itself: that is reported, and throws an
  /// ``/OperationCore/OperationCycleError`` if the failure of the mutation can represent it. If the failure cannot
  /// represent a cancellation, a task that is cancelled waits on.
  public var result: State.OperationValue {
    get async throws(State.Failure) {
      if let cycle = self.cycle {
        guard let error = cycle as? State.Failure else {
          cycle.report()
          return try await self.call.outcome.valueAtEnd().get()
        }
        throw error
      }
      guard let cancellation = CancellationError() as? State.Failure else {
        return try await self.call.outcome.valueAtEnd().get()
      }
      guard let outcome = await self.call.outcome.value() else { throw cancellation }
      return try outcome.get()
    }
  }

  /// Cancels the call, as cancelling the task of a caller of ``OperationCore/OperationStore/mutate(with:using:handler:)``
  /// does.
  public func cancel() {
    self.call.cancel()
  }

  private var cycle: OperationCycleError? {
    guard !self.call.outcome.isDecided, self.call.acceptance.isBehindCurrentTask else { return nil }
    let name = self.call.operationName
    return OperationCycleError(
      operationNames: [name, name],
      waits: "The body of \(name) waits for a call that it has enqueued behind itself in the same scope"
    )
  }
}

extension EnqueuedCall: Identifiable {
  /// The identity of the call in this process.
  public var id: ObjectIdentifier { ObjectIdentifier(self.call) }
}

extension OperationStore where State: MutationStateProtocol {
  /// Begins a call of the mutation, whose position in the order of its scope and its journal is taken when this returns.
  ///
  /// Use it where calls have to be in order and no task is theirs alone: in callbacks, in children of a task group,
  /// with `async let`. Inside of a call of the same scope, an enqueued call comes behind that call and is no part of it.
  /// The cancellation of the current task does not concern the call. Its arguments are encoded before this returns, if
  /// the mutation has a journal. The body of the mutation runs on another thread.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the call.
  ///   - context: Entries for this call, which take precedence over the store's context.
  ///   - handler: Receives the events of this call only.
  /// - Returns: The call. It need not be kept.
  @discardableResult
  public func enqueue(
    with arguments: State.Arguments,
    using context: OperationContext? = nil,
    handler: MutationEventHandler<State>? = nil
  ) -> EnqueuedCall<State> {
    let call = EnqueuedCallState<State.OperationValue, State.Failure>(operationName: ShownText.of(self.path))
    if !self.context.storesCalls { call.acceptance.decide(.success(())) }
    var context = context ?? OperationContext()
    context.enqueuedCall = call.acceptance
    // The caller may be on its actor, which a function that is not async cannot know. The body must not occupy that actor.
    var configuration = self.context.adding(context).operationTaskConfiguration
    configuration.executorPreference = configuration.executorPreference ?? globalConcurrentExecutor
    context.operationTaskConfiguration = configuration
    call.begin { [context] () async throws(State.Failure) in
      try await self.mutate(with: arguments, using: context, handler: handler)
    }
    return EnqueuedCall(call: call)
  }
}

extension OperationStore where State: MutationStateProtocol, State.Arguments == Void {
  /// Begins a call of a mutation that takes no arguments.
  ///
  /// See ``enqueue(with:using:handler:)``.
  @discardableResult
  public func enqueue(
    using context: OperationContext? = nil,
    handler: MutationEventHandler<State>? = nil
  ) -> EnqueuedCall<State> {
    self.enqueue(with: (), using: context, handler: handler)
  }
}
