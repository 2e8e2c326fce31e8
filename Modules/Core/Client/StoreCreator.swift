extension OperationClient {
  /// Creates the stores of a client: the place to give all operations their default modifiers.
  public protocol StoreCreator: Sendable {
    /// Creates a store for an operation.
    ///
    /// - Parameters:
    ///   - operation: The operation, as it was handed to the client.
    ///   - context: The default context of the client.
    ///   - initialState: The state to begin with.
    func store<Operation: StatefulOperationRequest & Sendable>(
      for operation: Operation,
      in context: OperationContext,
      with initialState: Operation.State
    ) -> OperationStore<Operation.State>
  }

  /// Creates stores of operations as they are.
  public struct PlainStoreCreator: StoreCreator {
    /// Creates a creator.
    public init() {}

    public func store<Operation: StatefulOperationRequest & Sendable>(
      for operation: Operation,
      in context: OperationContext,
      with initialState: Operation.State
    ) -> OperationStore<Operation.State> {
      .detached(operation: operation, initialState: initialState, initialContext: context)
    }
  }
}
