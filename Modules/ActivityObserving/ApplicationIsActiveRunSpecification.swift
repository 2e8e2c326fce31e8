public import OperationCore

/// A condition that holds while the application is active.
///
/// It never holds for an operation with ``OperationCore/OperationRequest/disableApplicationActiveRerunning(_:)``. The
/// application counts as active until the observer reports a value. The observer may report changes only: the condition
/// remembers the last value while it is in use.
public struct ApplicationIsActiveRunSpecification: OperationRunSpecification, Sendable {
  private let isActive: ObservedValue<Bool>

  /// Creates a condition.
  ///
  /// - Parameter observer: The observer that reports whether the application is active.
  public init(observer: some ApplicationActivityObserver & Sendable) {
    self.isActive = ObservedValue { observer.subscribe($0) }
  }

  /// Whether the application is active, and the operation has not disabled this condition.
  public func isSatisfied(in context: OperationContext) -> Bool {
    context.isApplicationActiveRerunningEnabled && self.isActive.current ?? true
  }

  /// Calls `onChange` when the application becomes active or inactive.
  ///
  /// - Returns: A subscription whose cancellation or release ends the calls.
  public func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    self.isActive.subscribeToChanges(onChange)
  }
}

extension ApplicationIsActiveRunSpecification: CustomStringConvertible {
  /// What a run waits for.
  public var description: String { "the application is active" }
}

extension OperationRunSpecification where Self == ApplicationIsActiveRunSpecification {
  /// A condition that holds while the application is active.
  ///
  /// - Parameter observer: The observer that reports whether the application is active.
  /// - Returns: A run specification that follows the observer.
  public static func applicationIsActive(observer: some ApplicationActivityObserver & Sendable) -> Self {
    ApplicationIsActiveRunSpecification(observer: observer)
  }
}
