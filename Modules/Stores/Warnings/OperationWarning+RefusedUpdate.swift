extension OperationWarning {
  /// Reports settings that an object does not take while it runs, because one of them is impossible.
  ///
  /// - Parameters:
  ///   - problem: What is impossible, with the value and a remedy; nil if nothing is.
  ///   - name: The name of the object.
  /// - Returns: Whether the settings are refused.
  package static func refuses(_ problem: String?, by name: String) -> Bool {
    guard let problem else { return false }
    OperationWarning(
      code: .invalidArgument,
      message: "`\(name)` keeps its settings, because an update is impossible. \(problem)"
    ).report()
    return true
  }
}
