public import OperationCore

// Without these declarations the compiler says only that there is no such member.
extension OperationRequest {
  /// Not for mutations, lists of pages and operations without a state: only a query serves its last value.
  @available(*, unavailable, message: "only a query serves a stale value: apply it to the query whose value is shown")
  @_disfavoredOverload
  public func servesStale(softTimeout: Duration, maximumAge: Duration, retriesAfter period: Duration = .zero) -> Self {
    preconditionFailure("Unavailable.")
  }

  /// Not for mutations, lists of pages and operations without a state: only a query serves its last value.
  @available(*, unavailable, message: "only a query serves a stale value: apply it to the query whose value is shown")
  @_disfavoredOverload
  public func servesStale(onFailureFor maximumAge: Duration, retriesAfter period: Duration = .zero) -> Self {
    preconditionFailure("Unavailable.")
  }

  /// Not for mutations, lists of pages and operations without a state: only a query is run again before its value is stale.
  @available(*, unavailable, message: "only a query is refreshed early: apply it to the query whose value is shown")
  @_disfavoredOverload
  public func refreshesEarly(after share: Double, retriesAfter period: Duration = .zero) -> Self {
    preconditionFailure("Unavailable.")
  }
}
