/// A path with the type of the state at that path, so that a look-up needs no cast.
///
/// ```swift
/// let key = OperationPathKey<QueryState<User, any Error>>(path: ["users", 1])
/// client.store(with: key)?.currentValue?.name
/// ```
///
/// Define keys in one place, or let the `OperationPathKeys` plugin generate them: see <doc:PathKeys>.
public struct OperationPathKey<State: OperationState & Sendable>: Hashable, Sendable, OperationPathable {
  /// The path.
  public let path: OperationPath

  /// Creates a key.
  ///
  /// - Parameter path: The path.
  public init(path: OperationPath) {
    self.path = path
  }

  /// Creates the key of an operation, equal to any other key with its path.
  ///
  /// - Parameter operation: The operation, whose path and state type the key has.
  public init(_ operation: some StatefulOperationRequest<State>) {
    self.path = operation.path
  }
}

extension OperationPathKey {
  /// Converts the key to the path of an operation with the same state type.
  ///
  /// With an operation that has another state type, the call does not compile.
  ///
  /// - Parameter operation: The type of the operation.
  /// - Returns: The path of the key.
  public func path<Operation: StatefulOperationRequest>(for operation: Operation.Type) -> OperationPath
  where Operation.State == State {
    self.path
  }

  /// Converts the key to the path of an operation that always has a default value.
  ///
  /// - Parameter operation: The type of the operation without its default value.
  /// - Returns: The path of the key.
  public func path<Operation: StatefulOperationRequest>(for operation: Operation.Type) -> OperationPath
  where State == DefaultOperationState<Operation.State> {
    self.path
  }
}

extension OperationPathKey: CustomStringConvertible {
  /// The path in the form of a literal, such as `["users", 1]`.
  ///
  /// - Complexity: O(*n*) in the number of elements.
  public var description: String { self.path.description }
}
