/// A run that waits until a specification holds.
///
/// It does not poll: the subscriber of the specification calls ``specificationHolds()``. On the default executor the run then
/// resumes when those before it in the ``ResumptionQueue`` have resumed, and on another executor at once.
final class PausedRun: Sendable {
  /// Why the task of a paused run is resumed.
  enum WakeReason: Sendable {
    /// The specification held when the run was woken.
    case specificationHeld
    case cancelled
    case timedOut
  }

  typealias Continuation = UnsafeContinuation<WakeReason, Never>

  private struct State: Sendable {
    /// The suspended task; nil while it is awake.
    var continuation: Continuation?
    /// Whether the run was woken while its task was awake.
    var isWoken = false
    /// Whether the run is in the queue, or is about to be woken.
    var isQueued = false
    /// Whether the queue waits until this run calls ``ResumptionQueue/advance()``.
    var blocksQueue = false
    /// Set once, when the pause ends.
    var ending: WakeReason?
  }

  private let state = Locked(State())
  /// Whether the run waits in the queue, and later runs wait for it.
  private let isQueueing: Bool

  init(isQueueing: Bool) {
    self.isQueueing = isQueueing
  }

  /// Puts the run into the queue or wakes it, unless it is queued or its pause has ended.
  func specificationHolds() {
    let isNew = self.state.withLock { state in
      if state.isQueued || state.ending != nil { return false }
      state.isQueued = true
      return true
    }
    guard isNew else { return }
    if self.isQueueing { ResumptionQueue.shared.append(self) } else { _ = self.wake() }
  }

  /// Wakes the run, which is no longer in the queue. Returns whether the queue has to wait for it.
  func wake() -> Bool {
    let (continuation, blocksQueue) = self.state.withLock { state in
      state.isQueued = false
      guard state.ending == nil else { return (Continuation?.none, false) }
      state.blocksQueue = self.isQueueing
      state.isWoken = state.continuation == nil
      return (state.continuation.take(), state.blocksQueue)
    }
    continuation?.resume(returning: .specificationHeld)
    return blocksQueue
  }

  /// Ends the pause, unless it has ended.
  func end(_ ending: WakeReason) {
    let continuation = self.state.withLock { state in
      guard state.ending == nil else { return Continuation?.none }
      state.ending = ending
      return state.continuation.take()
    }
    continuation?.resume(returning: ending)
  }

  /// Suspends the task of the run until the run is woken or its pause ends.
  nonisolated(nonsending) func suspend() async -> WakeReason {
    // This is not a ``Waiter`` in the state: a run waits several times, and the end of its pause takes precedence over
    // its waking.
    await Waiter.outcome { continuation in
      self.state.withLock { state in
        if let ending = state.ending { return ending }
        if state.isWoken {
          state.isWoken = false
          return .specificationHeld
        }
        state.continuation = continuation
        return nil
      }
    }
  }

  /// Wakes the next run in the queue if the queue waits for this one.
  func unblockQueue() {
    let wasBlocking = self.state.withLock { state in
      defer { state.blocksQueue = false }
      return state.blocksQueue
    }
    if wasBlocking { ResumptionQueue.shared.advance() }
  }
}
