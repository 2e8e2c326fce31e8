import OperationCore
import Synchronization

/// A controller whose stores a hub sets.
struct HubController: OperationController, Sendable {
  typealias State = QueryState<Int, any Error>

  let hub: Hub

  func control(with controls: OperationControls<State>) -> OperationSubscription {
    self.hub.controls.add(controls)
  }
}

/// The source of the values of controllers, with a fault.
final class Hub: Sendable {
  let controls: Registry<OperationControls<HubController.State>>
  private let isTwice: Bool
  private let value = Atomic(0)

  init(_ fault: Registry<OperationControls<HubController.State>>.Fault, isTwice: Bool = false) {
    self.controls = Registry(fault)
    self.isTwice = isTwice
  }

  func act() {
    let value = self.value.add(1, ordering: .relaxed).newValue
    self.controls.use { $0.yield(value) }
    if self.isTwice { self.controls.use { $0.yield(value) } }
  }
}
