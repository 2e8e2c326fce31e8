extension OperationPath: CustomStringConvertible {
  /// The path in the form of a literal, such as `["users", 1]`.
  ///
  /// - Complexity: O(*n*) in the number of elements.
  public var description: String {
    var text = "["
    for (position, element) in elements.enumerated() {
      text += position == 0 ? element.description : ", \(element.description)"
    }
    return text + "]"
  }
}
