extension Error {
  /// Whether a run that ends with this error in the current task has been cancelled.
  ///
  /// A body that is cancelled may throw what its client throws then, or what its type of failure has room for.
  @inlinable
  package var endsCancelledRun: Bool { self is CancellationError || Task.isCancelled }
}
