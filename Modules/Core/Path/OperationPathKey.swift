/// A path with the type of the state that lives there, so that a look-up needs no cast.
public struct OperationPathKey<State: OperationState & Sendable>: Hashable, Sendable, OperationPathable {
  /// The path.
  public let path: OperationPath

  /// Creates a key.
  public init(path: OperationPath) {
    self.path = path
  }
}
