/// Works on the state of a store from outside, for as long as the store lives: feeds it from a socket, reruns it on a
/// signal.
///
/// Attach one with ``StatefulOperationRequest/controlled(by:)``.
public protocol OperationController<State> {
  /// The state of the stores that the controller works on.
  associatedtype State: OperationState & Sendable

  /// Begins to control a store. Called once, when the store is made.
  ///
  /// - Returns: A subscription that is cancelled when the store goes.
  func control(with controls: OperationControls<State>) -> OperationSubscription
}

extension OperationContext {
  /// The controllers of the operation, the innermost first.
  public var operationControllers: [any OperationController & Sendable] {
    get { self[ControllersKey.self] }
    set { self[ControllersKey.self] = newValue }
  }

  private enum ControllersKey: Key {
    static let defaultValue: [any OperationController & Sendable] = []
  }
}
