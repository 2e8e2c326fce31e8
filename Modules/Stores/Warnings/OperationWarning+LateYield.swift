extension OperationWarning {
  /// Makes the warning about a result that was yielded after its run had returned, and was dropped.
  ///
  /// - Parameters:
  ///   - event: What happened, as a sentence without its full stop.
  ///   - result: What was dropped.
  ///   - function: Where the work that yields has to be awaited.
  /// - Returns: The warning, which is not reported yet.
  package static func lateYield(
    _ event: String,
    dropping result: String = "result",
    inside function: String = "the operation"
  ) -> OperationWarning {
    OperationWarning(
      code: .yieldAfterReturn,
      message: """
        \(event). The \(result) was dropped. Yield before returning: await the work that yields inside \(function).
        """
    )
  }
}
