internal import Operation
public import OperationCore

// A reader of the wrapped value is notified when the selected part of it changes. The wrapped value stays the whole
// value: what is not selected may be older than the store's until the next notification.

extension SharedOperation {
  /// Shares the state of a store, and notifies readers of the value only when a part of it changes.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - select: Returns the part. Called on each change, with no lock held.
  ///   - keepsPrevious: Whether the last value is shown after a move to another operation, until that one has a value.
  ///   - isolation: The actor of the caller. With the main actor, the wrapper changes on it.
  public init<Part: Equatable & Sendable>(
    store: OperationStore<State>,
    select: @escaping @Sendable (State.StateValue) -> Part,
    keepsPrevious: Bool = false,
    isolation: (any Actor)? = #isolation
  ) {
    let name = PropertyName(keyPath: \State.currentValue)
    let property = ObservedProperty<State> { select($0.shownValue) }
    self.init(
      ObservedStore(store, isolation: isolation, properties: [name: property], keepsPrevious: keepsPrevious)
    )
  }

  /// Shares the state of a query, and notifies readers of the value only when a part of it changes.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - select: Returns the part of a value. Called on each change, with no lock held.
  ///   - initialValue: The value that a new store begins with.
  ///   - keepsPrevious: Whether the last value is shown after a move to another operation, until that one has a value.
  ///   - client: The client whose store is shared; nil for `OperationClient.current`.
  ///   - isolation: The actor of the caller. With the main actor, the wrapper changes on it.
  ///   - fileID: The file of the caller, for warnings of debug builds.
  ///   - line: The line of the caller, for warnings of debug builds.
  public init<Query: QueryRequest, Part: Equatable & Sendable>(
    _ query: Query,
    select: @escaping @Sendable (Query.Value) -> Part,
    initialValue: Query.Value? = nil,
    keepsPrevious: Bool = false,
    client: OperationClient? = nil,
    isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) where State == QueryState<Query.Value, Query.Failure> {
    let store = (client ?? .current).store(for: query, initialValue: initialValue, fileID: fileID, line: line)
    self.init(store: store, select: { $0.map(select) }, keepsPrevious: keepsPrevious, isolation: isolation)
  }

  /// Shares the state of an operation with a default value, and notifies readers of the value only when a part of it
  /// changes.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - select: Returns the part of a value. Called on each change, with no lock held.
  ///   - keepsPrevious: Whether the last value is shown after a move to another operation, until that one has a value.
  ///   - client: The client whose store is shared; nil for `OperationClient.current`.
  ///   - isolation: The actor of the caller. With the main actor, the wrapper changes on it.
  ///   - fileID: The file of the caller, for warnings of debug builds.
  ///   - line: The line of the caller, for warnings of debug builds.
  public init<Operation: DefaultStateRequest, Part: Equatable & Sendable>(
    _ operation: Operation,
    select: @escaping @Sendable (State.StateValue) -> Part,
    keepsPrevious: Bool = false,
    client: OperationClient? = nil,
    isolation: (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) where Operation.State == State {
    self.init(
      store: (client ?? .current).store(for: operation, fileID: fileID, line: line),
      select: select,
      keepsPrevious: keepsPrevious,
      isolation: isolation
    )
  }
}
