extension OperationWarning {
  /// Makes the warning about a result that was yielded after its run had returned, and was dropped.
  ///
  /// - Parameters:
  ///   - event: What happened, as a sentence without its full stop.
  ///   - value: What was dropped.
  ///   - function: Where the work that yields has to be awaited.
  /// - Returns: The warning, which is not reported yet.
  package static func lateYield(
    _ event: String,
    dropping value: String = "result",
    inside function: String = "the operation"
  ) -> OperationWarning {
    OperationWarning(
      code: .yieldAfterReturn,
      message: """
        \(event). The \(value) was dropped. Yield before returning: await the work that yields inside \(function).
        """
    )
  }
}
