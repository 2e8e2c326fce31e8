/// What several paths begin with, and the type of the states that live there.
///
/// A prefix finds stores, as many as there are; an ``OperationPathKey`` finds one.
public struct OperationPathPrefix<State: OperationState & Sendable>: Hashable, Sendable {
  /// The path that the others begin with.
  public let path: OperationPath

  /// Creates a prefix.
  public init(path: OperationPath) {
    self.path = path
  }

  /// Creates the prefix that a key's path is.
  public init(_ key: OperationPathKey<State>) {
    self.path = key.path
  }
}

extension OperationPathPrefix: CustomStringConvertible {
  /// The path as it would be written in a literal, such as `["users"]`.
  ///
  /// - Complexity: O(*n*) in the number of elements.
  public var description: String { self.path.description }
}
