/// The common beginning of several paths, with the type of the states at those paths.
///
/// A prefix finds any number of stores; an ``OperationPathKey`` finds one.
public struct OperationPathPrefix<State: OperationState & Sendable>: Hashable, Sendable {
  /// The common beginning of the paths.
  public let path: OperationPath

  /// Creates a prefix.
  ///
  /// - Parameter path: The common beginning of the paths.
  public init(path: OperationPath) {
    self.path = path
  }

  /// Creates a prefix from the path of a key.
  ///
  /// - Parameter key: The key.
  public init(_ key: OperationPathKey<State>) {
    self.path = key.path
  }
}

extension OperationPathPrefix: CustomStringConvertible {
  /// The path in the form of a literal, such as `["users"]`.
  ///
  /// - Complexity: O(*n*) in the number of elements.
  public var description: String { self.path.description }
}
