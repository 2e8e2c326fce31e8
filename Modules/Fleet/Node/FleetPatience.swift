internal import OperationCore

/// Ends a wait for the backend after a time, but not while the process or the backend has much to do.
///
/// That is so if what is ready to run has waited for long, or if in a burst answers to others arrive: then a wait ends when none
/// has come for a lookup timeout. A backend that is away answers no call. Runs that go on alone because of a queue do the work of
/// others once more, and add to it.
final class FleetPatience: Sendable {
  /// How long a wait is prolonged at most, in lookup timeouts.
  private static let maximumExtension = 9

  private struct State: Sendable {
    var timer: OperationSubscription?
    var isCancelled = false
  }

  private let node: FleetNode
  private let end: @Sendable () -> Void
  /// When the wait ends in any case.
  private let last: Duration
  private let state = Locked(State())

  /// - Parameters:
  ///   - limit: How long the backend has.
  ///   - node: The node that waits.
  ///   - end: Ends the wait. Called with no lock held, unless it is cancelled before.
  init(_ limit: Duration, of node: FleetNode, _ end: @escaping @Sendable () -> Void) {
    self.node = node
    self.end = end
    self.last = node.deadlines.elapsed + limit + node.settings.lookupTimeout * Self.maximumExtension
    self.schedule(after: limit)
  }

  private func schedule(after limit: Duration) {
    let timer = self.node.deadlines.schedule(after: limit) { [weak self] in
      guard let self else { return }
      let due = self.node.deadlines.elapsed
      // Behind what is ready to run: an answer that has arrived may wait for its turn.
      self.node.startBehind("end a wait for the backend") { self.decide(due: due) }
    }
    let surplus = self.state.withLock { state -> OperationSubscription? in
      if state.isCancelled { return timer }
      defer { state.timer = timer }
      return state.timer
    }
    surplus?.cancel()
  }

  private func decide(due: Duration) {
    if self.state.withLock({ $0.isCancelled }) { return }
    let (now, timeout) = (self.node.deadlines.elapsed, self.node.settings.lookupTimeout)
    let answer = self.node.state.withLock { $0.isBurst ? $0.measurements.lastAnswer : nil }
    // Since when the process is held up, or the backend silent.
    let start = now - due >= timeout / 4 ? now : answer
    let next = min(start.map { $0 + timeout } ?? now, self.last)
    if next > now { self.schedule(after: next - now) } else { self.end() }
  }

  func cancel() {
    let timer = self.state.withLock { state in
      state.isCancelled = true
      return state.timer.take()
    }
    timer?.cancel()
  }
}

extension FleetNode.State {
  /// Whether so much waits for the backend that each of it waits for the others, too.
  fileprivate var isBurst: Bool {
    let count = self.waits.count + self.turns.count + self.pending.waitCount + self.introductions.count
    return count >= FleetTurns.maximum / 2
  }
}
