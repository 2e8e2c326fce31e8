/// Reruns a stale store for its subscribers when a condition becomes true, after it was false for some time.
struct RerunOnChange<State: OperationState & Sendable, Specification: OperationRunSpecification & Sendable>:
  OperationController, Sendable
{
  let specification: Specification
  /// For how long the condition must have been false. Zero for any time.
  let absence: Duration

  func control(with controls: OperationControls<State>) -> OperationSubscription {
    guard self.absence > .zero else {
      return self.specification.subscribeToRises(in: { controls.context }, onRise: { self.rerun(controls) })
    }
    let beginning = Locked<Duration?>(nil)
    return self.specification.subscribeToRises(
      in: { controls.context },
      onFall: {
        let elapsed = controls.context.operationDeadlines.elapsed
        beginning.withLock { $0 = elapsed }
      },
      onRise: {
        let elapsed = controls.context.operationDeadlines.elapsed
        // Without a beginning, the condition was false too shortly to be noticed.
        if let began = beginning.withLock({ $0.take() }), elapsed - began >= self.absence { self.rerun(controls) }
      }
    )
  }

  private func rerun(_ controls: OperationControls<State>) {
    controls.rerunSinceChange(.condition(self.specification.waitReason))
  }
}
