/// A path with the type of the state that lives there, so that a look-up needs no cast.
///
/// ```swift
/// let key = OperationPathKey<QueryState<User, any Error>>(path: ["users", 1])
/// client.store(with: key)?.currentValue?.name
/// ```
///
/// Write keys in one place, or have the `OperationPathKeys` plugin write them: see <doc:PathKeys>.
public struct OperationPathKey<State: OperationState & Sendable>: Hashable, Sendable, OperationPathable {
  /// The path.
  public let path: OperationPath

  /// Creates a key.
  public init(path: OperationPath) {
    self.path = path
  }

  /// Creates the key of an operation, equal to any other key with its path.
  public init(_ operation: some StatefulOperationRequest<State>) {
    self.path = operation.path
  }
}

extension OperationPathKey {
  /// The path, as that of operations whose state the key tells: with a key of another state it does not compile.
  public func path<Operation: StatefulOperationRequest>(for operation: Operation.Type) -> OperationPath
  where Operation.State == State {
    self.path
  }

  /// The path, as that of operations which always get a default value.
  public func path<Operation: StatefulOperationRequest>(for operation: Operation.Type) -> OperationPath
  where State == DefaultOperationState<Operation.State> {
    self.path
  }
}

extension OperationPathKey: CustomStringConvertible {
  /// The path as it would be written in a literal, such as `["users", 1]`.
  ///
  /// - Complexity: O(*n*) in the number of elements.
  public var description: String { self.path.description }
}
