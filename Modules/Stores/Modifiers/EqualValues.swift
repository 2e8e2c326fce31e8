/// A state that can return its value in the form of a run's value, for a comparison of the two.
///
/// Conform your own state to use ``StatefulOperationRequest/keepsEqualValues()`` with it.
public protocol ValueReplacingState: OperationState {
  /// Converts the current value to the form in which a run returns it.
  ///
  /// - Parameter value: The value of a run, which is about to replace the current one.
  /// - Returns: The current value in that form; nil without a value.
  func operationValue(replacedBy value: OperationValue) -> OperationValue?
}

extension QueryState: ValueReplacingState {
  public func operationValue(replacedBy value: Value) -> Value? { self.currentValue }
}

extension DefaultOperationState: ValueReplacingState where Base: ValueReplacingState {
  public func operationValue(replacedBy value: Base.OperationValue) -> Base.OperationValue? {
    self.base.operationValue(replacedBy: value)
  }
}

extension StatefulOperationRequest where State: ValueReplacingState, Value: Equatable {
  /// Keeps the value of the store when a run returns or yields an equal one.
  ///
  /// The state then counts and dates an update of the value, but keeps the instance: the same objects and buffers, so
  /// that comparing the two is quick. The value is compared with the store's without optimistic updates, in the
  /// task of the run, with no lock held. Outside a store the modifier does nothing.
  ///
  /// - Complexity: One comparison by `==` for each value of a run.
  public func keepsEqualValues() -> ModifiedOperation<Self, EqualValueKeeping<Self>> {
    self.modifier(
      EqualValueKeeping { value, context in
        guard let state = context.stateOfRunningStore(State.self) else { return value }
        guard let old = state.operationValue(replacedBy: value), old == value else { return value }
        return old
      }
    )
  }
}

/// Replaces values with equal ones that the store has; applied by ``StatefulOperationRequest/keepsEqualValues()``.
public struct EqualValueKeeping<Operation: OperationRequest>: OperationModifier {
  private let kept: @Sendable (Operation.Value, OperationContext) -> Operation.Value

  /// Creates a modifier.
  ///
  /// - Parameter kept: Returns the value to use for a value of a run with this context. Called with no lock held.
  package init(_ kept: @escaping @Sendable (Operation.Value, OperationContext) -> Operation.Value) {
    self.kept = kept
  }

  public static var beginsAtOnce: Bool { true }

  public var sourceText: String { ".keepsEqualValues()" }

  /// Runs the operation, and replaces the values that it yields and returns.
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    let keeping = OperationContinuation<Operation.Value, Operation.Failure> { [kept] result, yieldContext in
      continuation.yield(with: result.map { kept($0, context) }, using: yieldContext)
    }
    return self.kept(try await operation.run(isolation: isolation, in: context, with: keeping), context)
  }
}

extension OperationContext {
  /// The state of the running store without optimistic updates, or the state inside of it, if that has the given type.
  ///
  /// Nil outside a run of a store, and for other types of states.
  public func stateOfRunningStore<State: OperationState>(_ type: State.Type) -> State? {
    func search(_ state: any OperationState) -> State? {
      if let state = state as? State { return state }
      return (state as? any LayeredOperationState).flatMap { search($0.base) }
    }
    return self.runningOperationStore.flatMap { search($0.stateWithoutLayers) }
  }
}
