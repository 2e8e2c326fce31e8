public import OperationCore

/// A condition that holds while the application is active.
///
/// It never holds for an operation that wants nothing of it: see
/// ``OperationCore/OperationRequest/disableApplicationActiveRerunning(_:)``. As long as an observer has told nothing, the
/// application counts as active. An observer may tell changes alone: what it has told is remembered while the condition is
/// used.
public struct ApplicationIsActiveRunSpecification: OperationRunSpecification, Sendable {
  private let isActive: ObservedValue<Bool>

  /// Creates a condition.
  public init(observer: some ApplicationActivityObserver & Sendable) {
    self.isActive = ObservedValue { observer.subscribe($0) }
  }

  /// Whether the application is active, and the operation wants to know.
  public func isSatisfied(in context: OperationContext) -> Bool {
    context.isApplicationActiveRerunningEnabled && self.isActive.current ?? true
  }

  /// Calls `onChange` when the application becomes active, or ceases to be.
  public func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    self.isActive.subscribeToChanges(onChange)
  }
}

extension OperationRunSpecification where Self == ApplicationIsActiveRunSpecification {
  /// A condition that holds while the application is active.
  public static func applicationIsActive(observer: some ApplicationActivityObserver & Sendable) -> Self {
    ApplicationIsActiveRunSpecification(observer: observer)
  }
}
