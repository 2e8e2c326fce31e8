/// Satisfied when the state of a store was restored, or when restoring it takes too long.
final class RestorationReadiness: OperationRunSpecification, Sendable, CustomStringConvertible {
  // True at first: a store waits only once reading has begun.
  private let isReady = Broadcast(true)

  var description: String { "the stored value was read" }

  func isSatisfied(in context: OperationContext) -> Bool { self.isReady.value }

  func subscribe(in context: OperationContext, onChange: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.isReady.subscribe { _ in onChange() }
  }

  /// Waits until it is satisfied, or the current task is cancelled.
  nonisolated(nonsending) func wait() async {
    let wait = AwaitedOutcome<Void>()
    let subscription = self.isReady.subscribe { if $0 { wait.decide() } }
    await wait.value(cancelled: ())
    subscription.cancel()
  }

  func set(_ isReady: Bool) {
    if self.isReady.value != isReady { self.isReady.send(isReady) }
  }
}
