internal import Synchronization

extension OperationRunSpecification where Self: Sendable {
  /// Calls `onRise` each time the specification becomes satisfied.
  ///
  /// - Parameters:
  ///   - context: Returns the context for evaluating the specification. Called before each evaluation.
  ///   - onFall: Called with no lock held when the specification is no longer satisfied, and if it is not at the
  ///     beginning. A condition that was false too shortly to be noticed rises without a fall.
  ///   - onRise: Called with no lock held.
  /// - Returns: The subscription. Calls stop when it is cancelled or dropped.
  package func subscribeToRises(
    in context: @escaping @Sendable () -> OperationContext,
    onFall: @escaping @Sendable () -> Void = {},
    onRise: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    let observation = SatisfactionObserver()
    let evaluate: @Sendable () -> Void = {
      observation.evaluate({ self.isSatisfied(in: context()) }, onFall: onFall, onRise: onRise)
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
  func evaluate(_ isSatisfied: () -> Bool, onFall: () -> Void, onRise: () -> Void) {
    let isFirst = self.state.withLock { state in
      state.hasChanged = state.isEvaluating
      defer { state.isEvaluating = true }
      return !state.isEvaluating
    }
    guard isFirst else { return }
    var wasInterrupted = false
    while true {
      let isSatisfied = isSatisfied()
      let (hasFallen, hasRisen, isDone) = self.state.withLock { state in
        // During the previous evaluation the condition may have become false and true again.
        let hasRisen = isSatisfied && (!state.wasSatisfied || wasInterrupted)
        let hasFallen = !isSatisfied && state.wasSatisfied
        state.wasSatisfied = isSatisfied
        state.isEvaluating = state.hasChanged
        defer { state.hasChanged = false }
        return (hasFallen, hasRisen, !state.hasChanged)
      }
      if hasFallen { onFall() }
      if hasRisen { onRise() }
      if isDone { return }
      wasInterrupted = true
    }
  }
}
