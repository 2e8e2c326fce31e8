internal import Synchronization

/// Reruns a store when a condition comes to hold, if the value is stale and somebody subscribes.
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
  /// Calls `onRise` when the condition comes to hold, until the subscription is cancelled.
  ///
  /// - Parameter context: The context in which to look at the condition, asked for at each look.
  func subscribeToRises(
    in context: @escaping @Sendable () -> OperationContext,
    onRise: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    let observation = RiseObservation()
    let look: @Sendable () -> Void = {
      observation.look(at: { self.isSatisfied(in: context()) }, onRise: onRise)
    }
    // It is subscribed to before it is looked at, so that no change is missed between the two.
    let subscription = self.subscribe(in: context(), onChange: look)
    look()
    return subscription
  }
}

/// Looks at a condition, one look at a time, and tells when it has come to hold.
private final class RiseObservation: Sendable {
  private struct State {
    /// True before the first look, as what holds from the beginning has not come to hold.
    var wasSatisfied = true
    var isLooking = false
    /// Whether a change was announced during the present look.
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
        // A change during the last look may have been a fall that no look has seen.
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
