public import OperationCore

/// A condition that holds while the network is connected as well as an operation needs.
///
/// That is fully, unless the operation says otherwise: see
/// ``OperationCore/OperationRequest/satisfiedConnectionStatus(_:)``. As long as an observer has told no status, the network
/// counts as connected. An observer may tell changes alone: what it has told is remembered while the condition is used.
public struct NetworkConnectionRunSpecification: OperationRunSpecification, Sendable {
  private let status: ObservedValue<NetworkConnectionStatus>

  /// Creates a condition.
  public init(observer: some NetworkObserver & Sendable) {
    self.status = ObservedValue(
      asking: { observer.currentStatus },
      isAnswerReliable: observer.isStatusReliable,
      subscribe: { observer.subscribe(with: $0) }
    )
  }

  /// Whether the network is connected as well as `context` asks for.
  public func isSatisfied(in context: OperationContext) -> Bool {
    self.status.current ?? .connected >= context.satisfiedConnectionStatus
  }

  /// Calls `onChange` when the status of the network changes.
  public func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    self.status.subscribeToChanges(onChange)
  }
}

extension OperationRunSpecification where Self == NetworkConnectionRunSpecification {
  /// A condition that holds while the network is connected as well as an operation needs.
  public static func connected(to observer: some NetworkObserver & Sendable) -> Self {
    NetworkConnectionRunSpecification(observer: observer)
  }
}
