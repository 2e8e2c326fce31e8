public import OperationCore

extension MutationRequest {
  /// Bounds the history of the mutation to its newest calls.
  ///
  /// - Parameter length: How many; at least 1. It is 10 where nothing is said.
  public func maxHistory(length: Int) -> ContextModifiedOperation<Self> {
    if length < 1 {
      OperationWarning(
        code: .invalidArgument,
        message: "A history of \(length) calls cannot be. It has room for 1; pass 1 or more."
      ).report()
    }
    return self.context { $0.mutationHistoryLength = max(1, length) }
  }
}

extension OperationContext {
  /// How many calls the history of a mutation has room for.
  var mutationHistoryLength: Int {
    get { self[MutationHistoryLengthKey.self] }
    set { self[MutationHistoryLengthKey.self] = newValue }
  }

  private enum MutationHistoryLengthKey: Key {
    static let defaultValue = 10
  }
}
