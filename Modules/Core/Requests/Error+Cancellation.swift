extension Error {
  /// Whether a run that ends with this error in the current task has been cancelled.
  ///
  /// A body that is cancelled may throw what its client throws then, or what its type of failure has room for.
  @inlinable
  package var endsCancelledRun: Bool { self.isCancellation || Task.isCancelled }

  // Not inlined: an error is rare.
  @inlinable
  var isCancellation: Bool {
    @inline(never) get { self is CancellationError }
  }
}

extension Result {
  /// Whether this is a `CancellationError`.
  @inlinable
  package var isCancellation: Bool {
    if case .failure(let error) = self { error.isCancellation } else { false }
  }
}
