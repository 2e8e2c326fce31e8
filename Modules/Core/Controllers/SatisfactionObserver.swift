internal import Synchronization

extension OperationRunSpecification where Self: Sendable {
  /// Calls `onRise` each time the specification becomes satisfied.
  ///
  /// - Parameters:
  ///   - context: Returns the context for evaluating the specification. Called before each evaluation.
  ///   - onRise: Called with no lock held.
  /// - Returns: The subscription. Calls stop when it is cancelled or dropped.
  package func subscribeToRises(
    in context: @escaping @Sendable () -> OperationContext,
    onRise: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    let observation = SatisfactionObserver()
    let evaluate: @Sendable () -> Void = {
      observation.evaluate({ self.isSatisfied(in: context()) }, onRise: onRise)
    }
    // Subscribes before the first evaluation, so that no change between the two is missed.
    let subscription = self.subscribe(in: context(), onChange: evaluate)
    evaluate()
    return subscription
  }
}

/// Evaluates a condition, one evaluation at a time, and reports when the condition becomes true.
private final class SatisfactionObserver: Sendable {
  private struct State {
    /// Initially true: a condition that is true from the beginning has not become true.
    var wasSatisfied = true
    var isEvaluating = false
    /// Whether a change was reported during the current evaluation.
    var hasChanged = false
  }

  private let state = Mutex(State())

  /// Evaluates the condition. If another thread is evaluating it, that thread evaluates it once more.
  func evaluate(_ isSatisfied: () -> Bool, onRise: () -> Void) {
    let isFirst = self.state.withLock { state in
      state.hasChanged = state.isEvaluating
      defer { state.isEvaluating = true }
      return !state.isEvaluating
    }
    guard isFirst else { return }
    var wasInterrupted = false
    while true {
      let isSatisfied = isSatisfied()
      let (hasRisen, isDone) = self.state.withLock { state in
        // During the previous evaluation the condition may have become false and true again.
        let hasRisen = isSatisfied && (!state.wasSatisfied || wasInterrupted)
        state.wasSatisfied = isSatisfied
        state.isEvaluating = state.hasChanged
        defer { state.hasChanged = false }
        return (hasRisen, !state.hasChanged)
      }
      if hasRisen { onRise() }
      if isDone { return }
      wasInterrupted = true
    }
  }
}
