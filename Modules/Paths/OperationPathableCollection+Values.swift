extension OperationPathableCollection {
  /// The paths of the values, in the order of iteration.
  ///
  /// - Complexity: O(*n*) in the number of values.
  public var paths: [OperationPath] { self.map(\.path) }

  /// Removes the values that satisfy a condition.
  ///
  /// - Parameter shouldBeRemoved: The condition.
  /// - Throws: The error of the condition. No value is removed then.
  /// - Complexity: O(*n*) in the number of values.
  public mutating func removeAll<Failure: Error>(
    where shouldBeRemoved: (Value) throws(Failure) -> Bool
  ) throws(Failure) {
    var paths: [OperationPath] = []
    for value in self {
      if try shouldBeRemoved(value) { paths.append(value.path) }
    }
    for path in paths { self.removeValue(forPath: path) }
  }
}

extension OperationPathableCollection: ExpressibleByArrayLiteral {
  /// Creates a collection from the values of a literal. Of several values with the same path, the last one is used.
  ///
  /// - Complexity: O(*n*) in the elements of all paths.
  public init(arrayLiteral elements: Value...) {
    self.init(elements)
  }
}

extension OperationPathableCollection: Equatable where Value: Equatable {
  /// Whether two collections have equal values at the same paths, in any order.
  ///
  /// - Complexity: O(*n*) in the elements of all paths.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.count == rhs.count && lhs.allSatisfy { rhs[$0.path] == $0 }
  }
}
