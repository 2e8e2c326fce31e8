/// A condition of the world under which operations run: the network is there, the application is active.
///
/// Combine specifications with `&&`, `||` and `!`. See `CONTRIBUTING.md` for how to write one.
public protocol OperationRunSpecification {
  /// Whether the condition holds now.
  func isSatisfied(in context: OperationContext) -> Bool

  /// Calls `onChange` whenever the condition may have changed, until the subscription is cancelled.
  func subscribe(in context: OperationContext, onChange: @escaping @Sendable () -> Void) -> OperationSubscription
}

extension OperationRunSpecification {
  /// A specification that does not change has nothing to subscribe to.
  public func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription { .empty }
}

extension OperationContext {
  /// When a store may run its operation unasked, for instance when somebody subscribes. Never, by default.
  public var automaticRunningSpecification: any OperationRunSpecification & Sendable {
    get { self[AutomaticRunningKey.self] }
    set { self[AutomaticRunningKey.self] = newValue }
  }

  /// Whether somebody has said when the store may run unasked.
  var isAutomaticRunningConfigured: Bool { self.isSet(AutomaticRunningKey.self) }

  private enum AutomaticRunningKey: Key {
    static let defaultValue: any OperationRunSpecification & Sendable = AlwaysRunSpecification(isTrue: false)
  }
}
