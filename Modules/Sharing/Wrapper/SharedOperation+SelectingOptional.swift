public import OperationCore

extension SharedOperation {
  /// Not for the optional value of the state: `select:` receives the value itself.
  @available(*, unavailable, message: "`select:` receives the value itself, and not an optional: write { $0.… }")
  @_disfavoredOverload
  public init<Query: QueryRequest, Part: Equatable & Sendable>(
    _ query: Query,
    select: @escaping @Sendable (Query.Value?) -> Part,
    keepsPrevious: Bool = false
  ) where State == QueryState<Query.Value, Query.Failure> {
    preconditionFailure("Unavailable.")
  }
}
