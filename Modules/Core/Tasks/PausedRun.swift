/// A run that waits until a specification holds.
///
/// It subscribes to the specification, and is not asked again before that reports a change. When the specification holds,
/// the run stands in a ``ResumptionLine`` until the runs before it have gone on.
final class PausedRun: Sendable {
  /// Why a run that was paused goes on.
  enum Wakening: Sendable {
    /// The specification held when the run was woken.
    case held
    case cancelled
    case timedOut
  }

  typealias Continuation = UnsafeContinuation<Wakening, Never>

  private struct State: Sendable {
    /// The suspended task; nil while it is awake.
    var continuation: Continuation?
    /// Whether the run was woken while its task was awake.
    var isWoken = false
    /// Whether the run stands in the line.
    var isInLine = false
    /// Whether the line waits for this run to call ``ResumptionLine/advance()``.
    var holdsLine = false
    /// Set once, when the run goes on for good.
    var ending: Wakening?
  }

  private let state = Locked(State())
  /// Whether the runs behind this one in the line wait until it has gone on.
  let holdsLineUp: Bool

  init(holdsLineUp: Bool) {
    self.holdsLineUp = holdsLineUp
  }

  /// Puts the run into the line, as the specification holds.
  func specificationHolds() {
    let isNew = self.state.withLock { state in
      if state.isInLine || state.ending != nil { return false }
      state.isInLine = true
      return true
    }
    if isNew { ResumptionLine.shared.append(self) }
  }

  /// Wakes the run, which has reached the front of the line. Returns whether the line has to wait for it.
  func wake() -> Bool {
    let (continuation, holdsLine) = self.state.withLock { state in
      state.isInLine = false
      guard state.ending == nil else { return (Continuation?.none, false) }
      state.holdsLine = self.holdsLineUp
      state.isWoken = state.continuation == nil
      return (state.continuation.take(), state.holdsLine)
    }
    continuation?.resume(returning: .held)
    return holdsLine
  }

  /// Ends the pause, unless it has ended.
  func end(_ ending: Wakening) {
    let continuation = self.state.withLock { state in
      guard state.ending == nil else { return Continuation?.none }
      state.ending = ending
      return state.continuation.take()
    }
    continuation?.resume(returning: ending)
  }

  /// Suspends the task of the run until it is woken or ends.
  nonisolated(nonsending) func suspend() async -> Wakening {
    await withUnsafeContinuation { continuation in
      let wakening = self.state.withLock { state -> Wakening? in
        if let ending = state.ending { return ending }
        if state.isWoken {
          state.isWoken = false
          return .held
        }
        state.continuation = continuation
        return nil
      }
      if let wakening { continuation.resume(returning: wakening) }
    }
  }

  /// Lets the runs behind this one go on, if they wait for it.
  func leaveLine() {
    let heldLine = self.state.withLock { state in
      defer { state.holdsLine = false }
      return state.holdsLine
    }
    if heldLine { ResumptionLine.shared.advance() }
  }
}
