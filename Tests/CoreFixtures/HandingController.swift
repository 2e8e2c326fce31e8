package import OperationCore
import TestFixtures

/// Passes its controls to the test. They keep the runtime of the store, and with it this controller, until `drop()`.
package final class HandingController<State: OperationState & Sendable>: OperationController, Sendable {
  private let box = Box<OperationControls<State>?>(nil)

  package init() {}

  package var isControlling: Bool { self.box.value != nil }

  package var controls: OperationControls<State> {
    guard let controls = self.box.value else { preconditionFailure("No store has been made with this controller.") }
    return controls
  }

  package func drop() { self.box.value = nil }

  package func control(with controls: OperationControls<State>) -> OperationSubscription {
    self.box.value = controls
    return .empty
  }
}
