/// A condition for running operations, such as an available network or an active application.
///
/// Combine specifications with `&&`, `||` and `!`. The guide "Run specifications" of `Operation` shows how to write one.
public protocol OperationRunSpecification {
  /// Whether the condition is currently satisfied.
  func isSatisfied(in context: OperationContext) -> Bool

  /// Calls `onChange` whenever the condition may have changed, until the subscription is cancelled.
  ///
  /// The default never calls `onChange`, for conditions that never change.
  func subscribe(in context: OperationContext, onChange: @escaping @Sendable () -> Void) -> OperationSubscription
}

extension OperationRunSpecification {
  /// Returns an empty subscription, for conditions that never change.
  public func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription { .empty }
}

extension OperationContext {
  /// The condition for automatic runs of an operation, for instance on a new subscription.
  ///
  /// The default is never satisfied.
  public var automaticRunningSpecification: any OperationRunSpecification & Sendable {
    get { self[AutomaticRunningKey.self] }
    set { self[AutomaticRunningKey.self] = newValue }
  }

  /// Whether the condition for automatic runs was set.
  package var isAutomaticRunningConfigured: Bool { self.isSet(AutomaticRunningKey.self) }

  private enum AutomaticRunningKey: Key {
    static let defaultValue: any OperationRunSpecification & Sendable = AlwaysRunSpecification(isTrue: false)
  }
}
