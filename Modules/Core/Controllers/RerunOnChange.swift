/// Reruns a stale store for its subscribers when a condition becomes true.
struct RerunOnChange<State: OperationState & Sendable, Specification: OperationRunSpecification & Sendable>:
  OperationController, Sendable
{
  let specification: Specification

  func control(with controls: OperationControls<State>) -> OperationSubscription {
    self.specification.subscribeToRises(
      in: { controls.context },
      onRise: { [specification] in controls.rerunSinceChange(.condition(specification.waitReason)) }
    )
  }
}
