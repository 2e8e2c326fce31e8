public import OperationCore

extension MutationRequest {
  /// Lets the calls of all mutations with the same scope run one at a time, in the order in which they were made.
  ///
  /// A scope is one client's, or that of a store that no client keeps. A call that fails or is cancelled lets the next
  /// one run. A caller that is cancelled while it waits leaves at once with a `CancellationError`; where the failure of
  /// the mutation has no room for that, it keeps its place. A mutation that is called from inside a call of the same
  /// scope is part of that call, and does not wait for its end.
  ///
  /// An optimistic update that is to show while a call waits goes outside: `.scope("posts").optimistic(…)`.
  ///
  /// - Parameter id: Names the scope. Values of different types name different scopes.
  public func scope(_ id: some Hashable & Sendable) -> ModifiedOperation<Self, MutationScope<Self>> {
    self.modifier(MutationScope(id: OperationPath(elements: [id])))
  }
}

/// Lets calls run one at a time: what ``MutationRequest/scope(_:)`` applies.
public struct MutationScope<Operation: MutationRequest>: OperationModifier {
  /// Owns the scope of runs that have neither a client nor a store.
  private final class Nobody: Sendable {}

  private let id: OperationPath
  private let nobody = Nobody()

  init(id: OperationPath) {
    self.id = id
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.MutateValue, Operation.MutateFailure>
  ) async throws(Operation.MutateFailure) -> Operation.MutateValue {
    let cancellation = CancellationError() as? Operation.MutateFailure
    let admission = await ScopeLanes.shared.admission(
      to: self.id,
      of: self.owner(in: context),
      in: context,
      canLeave: cancellation != nil,
      isolation: isolation
    )
    switch admission {
    case .left:
      guard let cancellation else { preconditionFailure("Nobody leaves who cannot be told so.") }
      throw cancellation
    case .inside:
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    case .turn(let turn):
      defer { turn.end() }
      if Task.isCancelled, let cancellation { throw cancellation }
      return try await turn.perform(isolation: isolation) {
        await operation.outcome(isolation: isolation, in: context, with: continuation)
      }.get()
    }
  }

  private func owner(in context: OperationContext) -> any AnyObject & Sendable {
    if let client = context.operationClient { return client }
    switch context.runningOperationStore?.base {
    case let store as OperationStore<Operation.State>: return store
    case let store as OperationStore<DefaultOperationState<Operation.State>>: return store
    default: return self.nobody
    }
  }
}
