extension Error {
  /// Whether a run that throws this error in the current task was cancelled.
  ///
  /// The error need not be a `CancellationError`: a cancelled body may throw an error of the library that it calls, or
  /// another error that its failure type allows.
  @usableFromInline package var endsCancelledRun: Bool { self.isCancellation || Task.isCancelled }

  var isCancellation: Bool { self is CancellationError }
}

extension Result {
  /// The error of a failure; nil for a value.
  package var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }

  /// Whether this is a `CancellationError`.
  package var isCancellation: Bool {
    if case .failure(let error) = self { error.isCancellation } else { false }
  }
}
