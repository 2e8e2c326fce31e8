public import OperationCore
public import OperationMutation

extension SharedOperation {
  /// Creates a wrapper that is not backed by a store, until one is assigned to its projected value.
  ///
  /// It holds a state that setters change. Its calls, such as `fetch()`, throw an ``UnbackedOperationError``. If the
  /// failure of the operation cannot represent that error, calling is a programming error, and traps.
  ///
  /// - Parameters:
  ///   - unbackedState: The state until then.
  ///   - keepsPrevious: Whether the last value is shown after a move to another operation, until that one has a value.
  ///   - isolation: The actor of the caller. With the main actor, the wrapper changes on it.
  public init(unbackedState: State, keepsPrevious: Bool = false, isolation: (any Actor)? = #isolation) {
    self.init(ObservedStore(unbackedState: unbackedState, isolation: isolation, keepsPrevious: keepsPrevious))
  }

  /// Creates a wrapper of a query's state that is not backed by a store.
  ///
  /// - Parameters:
  ///   - wrappedValue: The value until an operation is assigned.
  ///   - keepsPrevious: Whether the last value is shown after a move to another operation, until that one has a value.
  ///   - isolation: The actor of the caller. With the main actor, the wrapper changes on it.
  public init<Value, Failure>(
    wrappedValue: Value? = nil,
    keepsPrevious: Bool = false,
    isolation: (any Actor)? = #isolation
  ) where State == QueryState<Value, Failure> {
    self.init(
      unbackedState: QueryState(initialValue: wrappedValue),
      keepsPrevious: keepsPrevious,
      isolation: isolation
    )
  }

  /// Creates a wrapper of a mutation's state that is not backed by a store.
  public init<Arguments, Value, Failure>(
    wrappedValue: Value? = nil,
    isolation: (any Actor)? = #isolation
  ) where State == MutationState<Arguments, Value, Failure> {
    self.init(unbackedState: MutationState(initialValue: wrappedValue), isolation: isolation)
  }
}
