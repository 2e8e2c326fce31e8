extension OperationClient {
  /// Creates the stores of a client.
  ///
  /// A custom creator can apply default modifiers to all operations.
  public protocol StoreCreator: Sendable {
    /// Creates a store for an operation.
    ///
    /// - Parameters:
    ///   - operation: The operation, as it was passed to the client.
    ///   - context: The default context of the client.
    ///   - initialState: The initial state of the store.
    /// - Returns: The store.
    func store<Operation: StatefulOperationRequest & Sendable>(
      for operation: Operation,
      in context: OperationContext,
      with initialState: Operation.State
    ) -> OperationStore<Operation.State>

    /// The condition that holds while the network is connected; nil, the default, if the creator does not observe it.
    ///
    /// A client waits for it before it acts by itself outside of runs, for example in a journal that resumes.
    var connectionSpecification: (any OperationRunSpecification & Sendable)? { get }
  }

  /// Creates stores without adding modifiers.
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

extension OperationClient.StoreCreator {
  public var connectionSpecification: (any OperationRunSpecification & Sendable)? { nil }
}
