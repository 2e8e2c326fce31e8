extension OperationPathableCollection {
  /// The paths of the values, in the order in which those are visited.
  ///
  /// - Complexity: O(*n*) in the number of values.
  public var paths: [OperationPath] { self.map(\.path) }

  /// Removes the values that satisfy a condition.
  ///
  /// - Parameter shouldBeRemoved: The condition. When it throws, nothing is removed.
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
  /// Creates a collection of the values of a literal; of several with the same path the last one stays.
  ///
  /// - Complexity: O(*n*) in the elements of all paths.
  public init(arrayLiteral elements: Value...) {
    self.init(elements)
  }
}

extension OperationPathableCollection: Equatable where Value: Equatable {
  /// Whether two collections have equal values at the same paths, in whatever order those came.
  ///
  /// - Complexity: O(*n*) in the elements of all paths.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.count == rhs.count && lhs.allSatisfy { rhs[$0.path] == $0 }
  }
}
