public import OperationCore

/// A condition that holds while the network is connected well enough for an operation.
///
/// By default an operation needs the status `connected`; change that with
/// ``OperationCore/OperationRequest/satisfiedConnectionStatus(_:)``. The network counts as connected until the observer
/// reports a status. The observer may report changes only: the condition remembers the last status while it is in use.
public struct NetworkConnectionRunSpecification: OperationRunSpecification, Sendable {
  private let status: ObservedValue<NetworkConnectionStatus>

  /// Creates a condition.
  ///
  /// - Parameter observer: The observer that reports the status of the network.
  public init(observer: some NetworkObserver & Sendable) {
    self.status = ObservedValue(
      asking: { observer.currentStatus },
      isAnswerReliable: observer.isStatusReliable,
      subscribe: { observer.subscribe(with: $0) }
    )
  }

  /// Whether the network is connected as well as `context` requires.
  public func isSatisfied(in context: OperationContext) -> Bool {
    self.status.current ?? .connected >= context.satisfiedConnectionStatus
  }

  /// Calls `onChange` when the status of the network changes.
  ///
  /// - Returns: A subscription whose cancellation or release ends the calls.
  public func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    self.status.subscribeToChanges(onChange)
  }
}

extension NetworkConnectionRunSpecification: CustomStringConvertible {
  /// What a run waits for.
  public var description: String { "the network is connected" }
}

extension OperationRunSpecification where Self == NetworkConnectionRunSpecification {
  /// A condition that holds while the network is connected well enough for an operation.
  ///
  /// - Parameter observer: The observer that reports the status of the network.
  /// - Returns: A run specification that follows the observer.
  public static func connected(to observer: some NetworkObserver & Sendable) -> Self {
    NetworkConnectionRunSpecification(observer: observer)
  }
}
