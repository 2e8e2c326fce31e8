/// Reruns a store when a condition comes to hold, if the value is stale and somebody subscribes.
struct RerunOnChange<State: OperationState & Sendable, Specification: OperationRunSpecification & Sendable>:
  OperationController, Sendable
{
  let specification: Specification

  func control(with controls: OperationControls<State>) -> OperationSubscription {
    let wasSatisfied = Switch(self.specification.isSatisfied(in: controls.context))
    return self.specification.subscribe(in: controls.context) {
      let isSatisfied = self.specification.isSatisfied(in: controls.context)
      guard wasSatisfied.set(isSatisfied) != isSatisfied, isSatisfied, controls.isStale else { return }
      controls.rerunForSubscribers()
    }
  }
}
