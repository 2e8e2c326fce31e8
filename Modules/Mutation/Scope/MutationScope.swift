public import OperationCore

extension MutationRequest {
  /// Runs the calls of all mutations with the same scope one at a time, in the order in which they were made.
  ///
  /// A scope belongs to a client, or to a store without a client. A call that fails or is cancelled lets the next one
  /// run. A caller that is cancelled while it waits leaves at once with a `CancellationError`. If the failure of the
  /// mutation cannot represent that error, the caller keeps its position. A mutation that is called inside a call of the
  /// same scope is part of that call, and does not wait for its end.
  ///
  /// A call takes its position when its caller begins it: see ``OperationCore/OperationStore/mutate(with:using:handler:)``.
  /// If a modifier outside of the scope may wait before it begins the mutation, as a limit does, the call takes its
  /// position when it has passed that modifier: see ``/OperationCore/OperationModifier/beginsAtOnce``.
  ///
  /// To show an optimistic update while a call waits, apply it outside of the scope: `.scope("posts").optimistic(…)`.
  ///
  /// - Parameter id: The name of the scope. Values of different types name different scopes.
  /// - Returns: The mutation in the scope.
  public func scope(_ id: some Hashable & Sendable) -> ModifiedOperation<Self, MutationScope<Self>> {
    self.modifier(MutationScope(id: OperationPath(elements: [id])))
  }
}

/// The modifier that ``MutationRequest/scope(_:)`` applies: calls of one scope run one at a time.
public struct MutationScope<Operation: MutationRequest>: OperationModifier {
  /// The owner of the scope of runs that have neither a client nor a store.
  private final class DefaultOwner: Sendable {}

  private let id: OperationPath
  private let defaultOwner = DefaultOwner()

  init(id: OperationPath) {
    self.id = id
  }

  public static var beginsAtOnce: Bool { true }

  public var sourceText: String { ".scope(\(ShownText.of(self.id)))" }

  public func setup(context: inout OperationContext, using operation: Operation) {
    context.mutationScope = self.id
    operation.setup(context: &context)
    let isScope: @Sendable (any Any.Type) -> Bool = { $0 is any ScopeModifier.Type }
    let inner = context.innerCallOrder
    let order = CallOrder(of: isScope, around: inner, storesCalls: inner?.storesCalls ?? false) { context in
      ScopeQueues.shared.position(in: self.id, of: self.owner(in: context), for: context)
    } follow: { context in
      let (id, owner) = (self.id, self.owner(in: context))
      return { [weak owner] in owner.map { ScopeTurn.isInside(id, of: $0) } ?? false }
    }
    context.setCallOrder(order)
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.MutateValue, Operation.MutateFailure>
  ) async throws(Operation.MutateFailure) -> Operation.MutateValue {
    let cancellation = CancellationError() as? Operation.MutateFailure
    let admission = await ScopeQueues.shared.admission(
      to: self.id,
      of: self.owner(in: context),
      in: context,
      canLeave: cancellation != nil,
      isolation: isolation
    )
    switch admission {
    case .left:
      guard let cancellation else { preconditionFailure("A caller leaves only if it can throw a CancellationError.") }
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
    default: return self.defaultOwner
    }
  }
}

/// A ``MutationScope`` of any mutation.
private protocol ScopeModifier {}

extension MutationScope: ScopeModifier {}

extension OperationContext {
  /// The scope of the mutation whose modifiers have set up the context; nil for a mutation without a scope.
  ///
  /// Its only element is the name of the scope. A modifier around the mutation reads it after it has called `setup` of
  /// the operation inside.
  public var mutationScope: OperationPath? {
    get { self[MutationScopeKey.self] }
    set { self[MutationScopeKey.self] = newValue }
  }

  private enum MutationScopeKey: Key {
    static let defaultValue: OperationPath? = nil
  }
}
