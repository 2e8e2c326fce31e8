extension OperationPathableCollection: CustomStringConvertible {
  /// The values with their paths, such as `[["users", 1]: Ada, ["users", 2]: Grace]`.
  ///
  /// - Complexity: O(*n*) in the number of values.
  public var description: String {
    isEmpty ? "[:]" : "[\(map { "\(ShownText.of($0.path)): \($0)" }.joined(separator: ", "))]"
  }
}
