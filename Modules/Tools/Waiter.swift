/// A task that waits for one outcome, as part of a state that the lock of its owner guards. The first outcome counts.
///
/// The outcome may be decided before the task is suspended, while it is, or never. So the owner calls ``suspend(_:)``
/// and ``decide(_:)`` under its lock, in any order, and resumes the ``Resumption`` after unlocking. The outcome stays
/// in the waiter, which a lock guards: it goes with the owner, or with the state that leaves the lock.
@usableFromInline
package enum Waiter<Outcome: Sendable>: Sendable {
  /// The task is not suspended yet.
  case arriving
  case suspended(UnsafeContinuation<Outcome, Never>)
  case decided(Outcome)

  /// A suspended task with its outcome, to be resumed after unlocking.
  @usableFromInline
  package struct Resumption: Sendable {
    @usableFromInline package let continuation: UnsafeContinuation<Outcome, Never>
    @usableFromInline package let outcome: Outcome

    @inlinable
    init(_ continuation: UnsafeContinuation<Outcome, Never>, _ outcome: Outcome) {
      self.continuation = continuation
      self.outcome = outcome
    }

    @inlinable
    package func resume() {
      self.continuation.resume(returning: self.outcome)
    }
  }
}

// Inlined, because the code of an owner knows the type of its outcome.
extension Waiter {
  /// The outcome; nil while there is none.
  @inlinable
  package var outcome: Outcome? {
    if case .decided(let outcome) = self { outcome } else { nil }
  }

  /// Keeps the continuation of the task and returns nil, unless the outcome is decided already, which it then returns.
  @inlinable
  package mutating func suspend(_ continuation: UnsafeContinuation<Outcome, Never>) -> Outcome? {
    if case .decided(let outcome) = self { return outcome }
    self = .suspended(continuation)
    return nil
  }

  /// Decides the outcome, unless there is one already.
  ///
  /// - Parameter outcome: The outcome.
  /// - Returns: The task to resume after unlocking; nil if it is not suspended, or was resumed before.
  @inlinable
  package mutating func decide(_ outcome: Outcome) -> Resumption? {
    switch self {
    case .arriving:
      self = .decided(outcome)
      return nil
    case .suspended(let continuation):
      self = .decided(outcome)
      return Resumption(continuation, outcome)
    case .decided:
      return nil
    }
  }

  /// Suspends the current task until its continuation is resumed.
  ///
  /// - Parameter suspend: Keeps the continuation and returns nil, or returns the outcome without a suspension.
  /// - Returns: The outcome.
  @inlinable
  @inline(__always)
  package nonisolated(nonsending) static func outcome(
    suspending suspend: (UnsafeContinuation<Outcome, Never>) -> Outcome?
  ) async -> Outcome {
    await withUnsafeContinuation { continuation in
      if let outcome = suspend(continuation) { continuation.resume(returning: outcome) }
    }
  }
}

/// An outcome that one task waits for: a ``Waiter`` with a lock of its own.
package final class AwaitedOutcome<Outcome: Sendable>: Sendable {
  private let waiter = Locked(Waiter<Outcome>.arriving)

  package init() {}

  /// Decides the outcome, and resumes the task if it waits. The first outcome counts.
  package func decide(_ outcome: Outcome) {
    self.waiter.withLock { $0.decide(outcome) }?.resume()
  }

  /// Waits for the outcome, also in a cancelled task. One task waits at a time.
  package nonisolated(nonsending) func value() async -> Outcome {
    await Waiter.outcome { continuation in self.waiter.withLock { $0.suspend(continuation) } }
  }

  /// Waits for the outcome. A cancellation of the task decides it.
  ///
  /// - Parameter cancelled: The outcome of a wait that is cancelled.
  /// - Returns: The outcome.
  package nonisolated(nonsending) func value(cancelled: Outcome) async -> Outcome {
    await withTaskCancellationHandler {
      await self.value()
    } onCancel: {
      self.decide(cancelled)
    }
  }
}

extension AwaitedOutcome<Void> {
  /// Ends the wait.
  package func decide() {
    self.decide(())
  }
}
