internal import Synchronization

/// The deadline of a run that several callers share: the latest of theirs. It has none as soon as one of them has none.
///
/// A modifier that knows the callers of its run sets it by ``OperationContext/shareDeadline(_:)``. What reads
/// ``OperationContext/operationDeadline`` in the run, such as a retry, then follows it.
public final class SharedDeadline: Sendable {
  private struct State: Sendable {
    var latest: ContinuousClock.Instant?
    var hasEnded = false
  }

  private let state: Mutex<State>

  /// Creates the deadline of a run with one caller.
  ///
  /// - Parameter instant: The deadline of the caller; nil for none.
  public init(_ instant: ContinuousClock.Instant?) {
    self.state = Mutex(State(latest: instant))
  }

  /// The latest deadline; nil for none.
  public var instant: ContinuousClock.Instant? { self.state.withLock { $0.latest } }

  /// Adds a caller. The deadline stays if it has ended the run before.
  ///
  /// - Parameter instant: The deadline of the caller; nil for none.
  public func add(_ instant: ContinuousClock.Instant?) {
    self.state.withLock { state in
      guard !state.hasEnded, let latest = state.latest else { return }
      state.latest = instant.map { max($0, latest) }
    }
  }

  /// Ends the run at an instant, unless there is a later deadline.
  ///
  /// - Parameter instant: An instant that has come.
  /// - Returns: Whether no caller has a later deadline. Then the deadline does not change any more.
  public func end(at instant: ContinuousClock.Instant) -> Bool {
    self.state.withLock { state in
      guard let latest = state.latest, latest <= instant else { return false }
      state.hasEnded = true
      return true
    }
  }

  /// Whether the run may go on after an instant.
  public func isLater(than instant: ContinuousClock.Instant) -> Bool {
    self.state.withLock { state in state.latest.map { $0 > instant } ?? true }
  }
}
