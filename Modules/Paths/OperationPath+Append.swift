extension OperationPath {
  /// Adds one element at the end.
  ///
  /// - Parameter element: The element.
  /// - Complexity: Amortized O(1).
  public mutating func append(_ element: Element) {
    elements.append(element)
  }

  /// Adds one value at the end as an element, even if the value is an array.
  ///
  /// - Parameter element: The value.
  /// - Complexity: Amortized O(1).
  @_disfavoredOverload
  public mutating func append(_ element: any Hashable & Sendable) {
    elements.append(Element(element))
  }

  /// Adds the elements of another path, or of an array literal, at the end.
  ///
  /// - Parameter path: The other path. To add it as one element, append `OperationPath.Element(path)`.
  /// - Complexity: Amortized O(*m*) in the elements of the other path.
  public mutating func append(_ path: OperationPath) {
    elements.append(contentsOf: path.elements)
  }

  /// Adds the elements of a sequence at the end.
  ///
  /// - Parameter elements: The elements, such as a path or a slice of one.
  /// - Complexity: Amortized O(*m*) in the number of elements added.
  public mutating func append(contentsOf elements: some Sequence<Element>) {
    self.elements.append(contentsOf: elements)
  }

  /// Adds the values of a sequence at the end, each as one element.
  ///
  /// - Parameter values: The values.
  /// - Complexity: Amortized O(*m*) in the number of values added.
  public mutating func append<Value: Hashable & Sendable>(contentsOf values: some Sequence<Value>) {
    self.elements.append(contentsOf: values.lazy.map { Element($0) })
  }

  /// Copies this path, and adds one element at the end of the copy.
  ///
  /// - Parameter element: The element.
  /// - Returns: The copy.
  /// - Complexity: O(*n*) in the elements of this path.
  public func appending(_ element: Element) -> OperationPath {
    var path = self
    path.append(element)
    return path
  }

  /// Copies this path, and adds one value at the end of the copy as an element, even if the value is an array.
  ///
  /// - Parameter element: The value.
  /// - Returns: The copy.
  /// - Complexity: O(*n*) in the elements of this path.
  @_disfavoredOverload
  public func appending(_ element: any Hashable & Sendable) -> OperationPath {
    appending(Element(element))
  }

  /// Copies this path, and adds the elements of another path, or of an array literal, at the end of the copy.
  ///
  /// - Parameter path: The other path. To add it as one element, append `OperationPath.Element(path)`.
  /// - Returns: The copy.
  /// - Complexity: O(*n* + *m*) in the elements of both paths.
  public func appending(_ path: OperationPath) -> OperationPath {
    var appended = self
    appended.append(path)
    return appended
  }
}
