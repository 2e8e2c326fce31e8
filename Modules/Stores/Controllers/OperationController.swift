/// Controls a store from outside its runs, for instance by setting values from a socket or rerunning on a signal.
///
/// A controller works as long as the store exists. Attach one with ``StatefulOperationRequest/controlled(by:)``.
public protocol OperationController<State> {
  /// The state of the stores that the controller controls.
  associatedtype State: OperationState & Sendable

  /// Starts to control a store.
  ///
  /// Called once for each store, when the store is created.
  ///
  /// - Parameter controls: The access to the store, which may be used from any thread.
  /// - Returns: A subscription that is cancelled when the store is released.
  func control(with controls: OperationControls<State>) -> OperationSubscription
}

extension OperationContext {
  /// The controllers of the operation, innermost first.
  public var operationControllers: [any OperationController & Sendable] {
    get { self[ControllersKey.self] }
    set { self[ControllersKey.self] = newValue }
  }

  private enum ControllersKey: Key {
    static let defaultValue: [any OperationController & Sendable] = []
  }
}
