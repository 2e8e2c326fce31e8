internal import Operation
public import OperationCore
public import OperationFoundation
public import OperationMutation
public import OperationPagination

extension SharedOperation {
  /// Shares the state of a store, which need not belong to a client.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - keepsPrevious: Whether the last value is shown after a move to another operation, until that one has a value.
  ///   - placeholder: What the wrapper shows before the first value. It is not stored, and other readers do not see it.
  ///   - isolation: The actor of the caller. With the main actor, the wrapper changes on it.
  public init(
    store: OperationStore<State>,
    keepsPrevious: Bool = false,
    placeholder: State.StateValue? = nil,
    isolation: (any Actor)? = #isolation
  ) {
    self.init(
      ObservedStore(store, isolation: isolation, keepsPrevious: keepsPrevious, placeholder: placeholder)
    )
  }

  /// Shares the state of an operation of any kind.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - initialState: The initial state of a new store.
  ///   - keepsPrevious: Whether the last value is shown after a move to another operation, until that one has a value.
  ///   - client: The client whose store is shared; nil for `OperationClient.current`.
  ///   - isolation: The actor of the caller. With the main actor, the wrapper changes on it.
  ///   - fileID: The file of the caller, for warnings of debug builds.
  ///   - line: The line of the caller, for warnings of debug builds.
  public init<Operation: StatefulOperationRequest & Sendable>(
    _ operation: Operation,
    initialState: @autoclosure () -> State,
    keepsPrevious: Bool = false,
    client: OperationClient? = nil,
    isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) where Operation.State == State {
    let client = client ?? .current
    self.init(
      store: client.store(for: operation, initialState: initialState(), fileID: fileID, line: line),
      keepsPrevious: keepsPrevious,
      isolation: isolation
    )
  }

  /// Shares the state of an operation with a default value.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - keepsPrevious: Whether the last value is shown after a move to another operation, until that one has a value.
  ///   - client: The client whose store is shared; nil for `OperationClient.current`.
  ///   - isolation: The actor of the caller. With the main actor, the wrapper changes on it.
  ///   - fileID: The file of the caller, for warnings of debug builds.
  ///   - line: The line of the caller, for warnings of debug builds.
  public init<Operation: DefaultStateRequest>(
    _ operation: Operation,
    keepsPrevious: Bool = false,
    client: OperationClient? = nil,
    isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) where Operation.State == State {
    self.init(
      store: (client ?? .current).store(for: operation, fileID: fileID, line: line),
      keepsPrevious: keepsPrevious,
      isolation: isolation
    )
  }

  /// Shares the state of a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - initialValue: The value that a new store begins with.
  ///   - keepsPrevious: Whether the last value is shown after a move to another operation, until that one has a value.
  ///   - placeholder: What the wrapper shows before the first value. It is not stored, and other readers do not see it.
  ///   - client: The client whose store is shared; nil for `OperationClient.current`.
  ///   - isolation: The actor of the caller. With the main actor, the wrapper changes on it.
  ///   - fileID: The file of the caller, for warnings of debug builds.
  ///   - line: The line of the caller, for warnings of debug builds.
  public init<Query: QueryRequest>(
    _ query: Query,
    initialValue: Query.Value? = nil,
    keepsPrevious: Bool = false,
    placeholder: Query.Value? = nil,
    client: OperationClient? = nil,
    isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) where State == QueryState<Query.Value, Query.Failure> {
    self.init(
      store: (client ?? .current).store(for: query, initialValue: initialValue, fileID: fileID, line: line),
      keepsPrevious: keepsPrevious,
      placeholder: placeholder.map { .some($0) },
      isolation: isolation
    )
  }

  /// Shares the state of a query, whose initial value has a known age.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - initialValue: The value that a new store begins with.
  ///   - date: When the value was fetched, from which staleness rules count its age.
  ///   - keepsPrevious: Whether the last value is shown after a move to another operation, until that one has a value.
  ///   - client: The client whose store is shared; nil for `OperationClient.current`.
  ///   - isolation: The actor of the caller. With the main actor, the wrapper changes on it.
  ///   - fileID: The file of the caller, for warnings of debug builds.
  ///   - line: The line of the caller, for warnings of debug builds.
  public init<Query: QueryRequest>(
    _ query: Query,
    initialValue: Query.Value,
    updatedAt date: Date,
    keepsPrevious: Bool = false,
    client: OperationClient? = nil,
    isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) where State == QueryState<Query.Value, Query.Failure> {
    self.init(
      query,
      initialState: QueryState(initialValue: initialValue, updatedAt: date),
      keepsPrevious: keepsPrevious,
      client: client,
      isolation: isolation,
      fileID: fileID,
      line: line
    )
  }

  /// Shares the state of a mutation.
  ///
  /// - Parameters:
  ///   - mutation: The mutation.
  ///   - initialValue: The value that a new store begins with.
  ///   - client: The client whose store is shared; nil for `OperationClient.current`.
  ///   - isolation: The actor of the caller. With the main actor, the wrapper changes on it.
  ///   - fileID: The file of the caller, for warnings of debug builds.
  ///   - line: The line of the caller, for warnings of debug builds.
  public init<Mutation: MutationRequest>(
    _ mutation: Mutation,
    initialValue: Mutation.MutateValue? = nil,
    client: OperationClient? = nil,
    isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) where State == MutationState<Mutation.Arguments, Mutation.MutateValue, Mutation.MutateFailure> {
    self.init(
      store: (client ?? .current).store(for: mutation, initialValue: initialValue, fileID: fileID, line: line),
      isolation: isolation
    )
  }

  /// Shares the state of a paginated request.
  ///
  /// - Parameters:
  ///   - query: The request.
  ///   - initialValue: The pages that a new store begins with.
  ///   - keepsPrevious: Whether the last value is shown after a move to another operation, until that one has a value.
  ///   - client: The client whose store is shared; nil for `OperationClient.current`.
  ///   - isolation: The actor of the caller. With the main actor, the wrapper changes on it.
  ///   - fileID: The file of the caller, for warnings of debug builds.
  ///   - line: The line of the caller, for warnings of debug builds.
  public init<Query: PaginatedRequest>(
    _ query: Query,
    initialValue: @autoclosure () -> Pages<Query.PageID, Query.PageValue> = [],
    keepsPrevious: Bool = false,
    client: OperationClient? = nil,
    isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) where State == PaginatedState<Query.PageID, Query.PageValue, Query.PageFailure> {
    self.init(
      store: (client ?? .current).store(for: query, initialValue: initialValue(), fileID: fileID, line: line),
      keepsPrevious: keepsPrevious,
      isolation: isolation
    )
  }
}
