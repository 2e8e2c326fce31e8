/// Reruns a store when a condition comes to hold, if the value is stale and somebody subscribes.
struct RerunOnChange<State: OperationState & Sendable, Specification: OperationRunSpecification & Sendable>:
  OperationController, Sendable
{
  let specification: Specification

  func control(with controls: OperationControls<State>) -> OperationSubscription {
    // It is subscribed to before it is asked, so that no change is missed between the two.
    let wasSatisfied = Switch(true)
    let subscription = self.specification.subscribe(in: controls.context) {
      self.compare(with: wasSatisfied, controls)
    }
    _ = wasSatisfied.set(self.specification.isSatisfied(in: controls.context))
    self.compare(with: wasSatisfied, controls)
    return subscription
  }

  private func compare(with wasSatisfied: Switch, _ controls: OperationControls<State>) {
    let isSatisfied = self.specification.isSatisfied(in: controls.context)
    guard wasSatisfied.set(isSatisfied) != isSatisfied, isSatisfied else { return }
    controls.rerunForSubscribersSinceChange()
  }
}
