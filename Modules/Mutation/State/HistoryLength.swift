public import OperationCore

extension MutationRequest {
  /// Limits the history of the mutation to its newest calls.
  ///
  /// - Parameter length: The maximum number of calls, at least 1. It is 10 without this modifier.
  /// - Returns: The mutation with the length in its context.
  public func maxHistory(length: Int) -> ContextModifiedOperation<Self> {
    if length < 1 {
      OperationWarning(
        code: .invalidArgument,
        message: "`maxHistory(length: \(length))` leaves room for no call, so the length is 1. Pass 1 or more."
      ).report()
    }
    return self.context { $0.mutationHistoryLength = max(1, length) }.written(".maxHistory(length: \(length))")
  }
}

extension OperationContext {
  /// The maximum number of calls in the history of a mutation.
  package var mutationHistoryLength: Int {
    get { self[MutationHistoryLengthKey.self] }
    set { self[MutationHistoryLengthKey.self] = newValue }
  }

  private enum MutationHistoryLengthKey: Key {
    static let defaultValue = 10
  }
}
