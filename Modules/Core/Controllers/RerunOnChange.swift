internal import Synchronization

/// Reruns a store when a condition becomes satisfied, if the value is stale and the store has subscribers.
struct RerunOnChange<State: OperationState & Sendable, Specification: OperationRunSpecification & Sendable>:
  OperationController, Sendable
{
  let specification: Specification

  func control(with controls: OperationControls<State>) -> OperationSubscription {
    self.specification.subscribeToRises(
      in: { controls.context },
      onRise: { controls.rerunForSubscribersSinceChange() }
    )
  }
}

extension OperationRunSpecification where Self: Sendable {
  /// Calls `onRise` when the condition becomes satisfied, until the subscription is cancelled.
  ///
  /// - Parameter context: Returns the context for evaluating the condition. Called before each evaluation.
  func subscribeToRises(
    in context: @escaping @Sendable () -> OperationContext,
    onRise: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    let observation = RiseObservation()
    let look: @Sendable () -> Void = {
      observation.look(at: { self.isSatisfied(in: context()) }, onRise: onRise)
    }
    // Subscribes before the first evaluation, so that no change between the two is missed.
    let subscription = self.subscribe(in: context(), onChange: look)
    look()
    return subscription
  }
}

/// Evaluates a condition, one evaluation at a time, and reports when the condition becomes satisfied.
private final class RiseObservation: Sendable {
  private struct State {
    /// Initially true, because a condition that is satisfied from the beginning has not changed.
    var wasSatisfied = true
    var isLooking = false
    /// Whether a change was reported during the current evaluation.
    var hasChanged = false
  }

  private let state = Mutex(State())

  func look(at isSatisfied: () -> Bool, onRise: () -> Void) {
    let isFirst = self.state.withLock { state in
      state.hasChanged = state.isLooking
      defer { state.isLooking = true }
      return !state.isLooking
    }
    guard isFirst else { return }
    var wasInterrupted = false
    while true {
      let isSatisfied = isSatisfied()
      let (hasRisen, isDone) = self.state.withLock { state in
        // The change during the previous evaluation may have been to false and back, which no evaluation saw.
        let hasRisen = isSatisfied && (!state.wasSatisfied || wasInterrupted)
        state.wasSatisfied = isSatisfied
        state.isLooking = state.hasChanged
        defer { state.hasChanged = false }
        return (hasRisen, !state.hasChanged)
      }
      if hasRisen { onRise() }
      if isDone { return }
      wasInterrupted = true
    }
  }
}
