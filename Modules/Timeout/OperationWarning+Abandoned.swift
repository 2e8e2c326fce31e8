public import OperationCore

extension OperationWarning.Code {
  /// A run yielded a result after its time was over and before it ended.
  ///
  /// Such a run is abandoned: its caller has left and its task is cancelled, but it has not ended.
  public static let abandoned = Self(description: "abandoned")
}

extension OperationWarning {
  /// The warning about a result that an abandoned run yielded, and that was dropped.
  static func abandonedYield(of operation: any Any.Type) -> OperationWarning {
    OperationWarning(
      code: .abandoned,
      message: """
        An abandoned run of \(operation) yielded a result after its time was over. The result was dropped. Let the \
        operation end when its task is cancelled.
        """
    )
  }
}
