public import OperationCore

// Both modifiers compile for every stateful operation, and do nothing for a mutation. They are deprecated here, not unavailable:
// the compiler prefers a declaration that is available, which is the one for all operations.
extension MutationRequest {
  /// Has no effect: nothing runs a mutation because its last value is old.
  @available(
    *,
    deprecated,
    message: "has no effect: nothing runs a mutation because its value is old; apply .stale(after:) to the query"
  )
  public func stale(after duration: Duration, whenNoValue: Bool = true) -> ContextModifiedOperation<Self> {
    self.adding { _ in }
  }

  /// Has no effect: only a caller can provide the arguments of a mutation.
  @available(
    *,
    deprecated,
    message: "has no effect: a mutation runs only when it is called; apply .rerun(every:) to the query"
  )
  public func rerun(
    every interval: Duration,
    jitter: Double = 0,
    onlyWhen specification: some OperationRunSpecification & Sendable = .always(true),
    using generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) -> ContextModifiedOperation<Self> {
    self.adding { _ in }
  }
}
