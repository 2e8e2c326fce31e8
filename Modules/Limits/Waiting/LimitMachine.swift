package import OperationCore

/// The state of a limit and of the runs that wait for it, as a value that a lock guards.
///
/// Its methods make decisions. They add the waiters with a decision to ``decided``, and the caller resumes them after
/// unlocking.
package protocol LimitMachine: Sendable {
  /// The waiters that have a decision and are not resumed yet, in the order of the decisions.
  var decided: [LimitWaiter] { get set }

  /// The elapsed time at which ``wake(at:)`` has to be called, and its source; nil if no call is needed.
  var alarm: (due: Duration, deadlines: any DeadlineSource)? { get }

  /// Adds a waiter, or returns a decision about it at once.
  mutating func join(_ waiter: LimitWaiter, at now: Duration) -> LimitWaiter.Decision?

  /// Removes a waiter that has no decision yet.
  mutating func remove(_ waiter: LimitWaiter)

  /// Decides about the waiters whose time has come.
  mutating func wake(at now: Duration)
}

extension LimitMachine {
  /// Decides about a waiter, which the caller then resumes.
  mutating func decide(_ decision: LimitWaiter.Decision, for waiter: LimitWaiter) {
    waiter.decide(decision)
    self.decided.append(waiter)
  }
}
