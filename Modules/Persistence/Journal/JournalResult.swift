internal import OperationCore

/// The end of a call, as the callers of the calls that it has replaced receive it.
enum JournalOutcome: Sendable {
  case success(any Sendable)
  case failure(any Error)
}

/// The outcome of a call, for the callers of the earlier calls that it has replaced.
final class JournalResult: Sendable {
  private struct State: Sendable {
    /// The position of the call.
    var position: JournalState.Position?
    /// The call that has replaced this one.
    var next: JournalResult?
    /// The value of the last attempt.
    var value: (any Sendable)?
    var outcome: JournalOutcome?
    var isFinal = false
    var waiters: [AwaitedOutcome<JournalOutcome?>] = []
  }

  private let state = Locked(State())

  /// Whether another call has replaced this one.
  var isReplaced: Bool { self.state.withLock { $0.next != nil } }

  /// What has become of a call that the journal no longer has.
  var turn: JournalTurn {
    self.state.withLock { state in
      if state.next != nil { return .replaced }
      guard case .failure(let error as JournalError)? = state.outcome, error.code == .takenOver else { return .removed }
      return .takenOver
    }
  }

  /// Whether callers of earlier calls wait for the end of the call.
  var isAwaited: Bool { self.state.withLock { !$0.waiters.isEmpty } }

  /// Sets the position of the call.
  func settle(at position: JournalState.Position) {
    self.state.withLock { $0.position = position }
  }

  /// The position of the call that is made in the end: this call, or the last call in its place.
  private var lastPosition: JournalState.Position? {
    let (next, position) = self.state.withLock { ($0.next, $0.position) }
    return next.map(\.lastPosition) ?? position
  }

  /// Makes the callers that wait for this call wait for another call.
  ///
  /// Called with the lock of the journal held: the other call has just been accepted, so it has no outcome yet.
  func follow(_ next: JournalResult) {
    let waiters = self.state.withLock { state in
      defer { state.waiters = [] }
      state.next = next
      return state.waiters
    }
    next.state.withLock { $0.waiters += waiters }
  }

  /// Forgets a failure, because the call is made again.
  ///
  /// - Returns: Objects to release after the journal was unlocked.
  func reopen() -> JournalOutcome? {
    self.state.withLock { $0.isFinal ? nil : $0.outcome.take() }
  }

  /// Notes the value that an attempt has returned.
  func note(_ value: any Sendable) {
    self.state.withLock { state, released in
      released.append(state.value)
      state.value = value
    }
  }

  /// The value of the last attempt; nil if there is none.
  var lastValue: (any Sendable)? { self.state.withLock { $0.value } }

  /// Ends all waits with the value of the last attempt, also waits that begin later.
  func succeed() {
    guard let value = self.state.withLock({ $0.value }) else { return }
    self.decide(.success(value), isFinal: true)
  }

  /// Ends the waits.
  ///
  /// - Parameters:
  ///   - outcome: What the callers receive.
  ///   - isFinal: Whether the call has ended. If it is made again, waits that begin before its next end receive the
  ///     outcome, too.
  func decide(_ outcome: JournalOutcome, isFinal: Bool) {
    let waiters = self.state.withLock { state, released in
      defer { state.waiters = [] }
      if !state.isFinal {
        released.append(state.outcome)
        state.outcome = outcome
        state.isFinal = isFinal
      }
      return state.waiters
    }
    for waiter in waiters { waiter.decide(outcome) }
  }

  /// Waits for the end of the call, or of the call in its place. Returns nil if the task was cancelled.
  nonisolated(nonsending) func outcome(in journal: MutationJournal) async -> JournalOutcome? {
    if Task.isCancelled { return nil }
    let waiter = AwaitedOutcome<JournalOutcome?>()
    self.wait(waiter)
    // The caller of the call itself may have left.
    if let position = self.lastPosition { journal.change { $0.makeAwaited(position) } }
    let outcome = await waiter.value(cancelled: nil)
    if outcome == nil { self.stopWaiting(waiter) }
    return outcome
  }

  private func wait(_ waiter: AwaitedOutcome<JournalOutcome?>) {
    let (next, outcome) = self.state.withLock { state -> (JournalResult?, JournalOutcome?) in
      if state.next == nil, state.outcome == nil { state.waiters.append(waiter) }
      return (state.next, state.outcome)
    }
    if let next { next.wait(waiter) } else if let outcome { waiter.decide(outcome) }
  }

  private func stopWaiting(_ waiter: AwaitedOutcome<JournalOutcome?>) {
    let next = self.state.withLock { state in
      state.waiters.removeAll { $0 === waiter }
      return state.next
    }
    next?.stopWaiting(waiter)
  }
}
