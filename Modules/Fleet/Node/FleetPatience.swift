internal import OperationCore

/// Ends a wait for the backend after a time, but not while the process or the backend has much to do.
///
/// That is so if what is ready to run has waited for long, or if in a burst answers arrive that have taken long. A backend that is
/// away answers nobody. Runs that go on alone because of a queue do the work of others once more, and add to it.
final class FleetPatience: Sendable {
  /// How often a wait is prolonged at most.
  private static let maximumExtensions = 9

  private struct State: Sendable {
    var timer: OperationSubscription?
    var isCancelled = false
    var extensions = 0
    /// When this part of the wait began.
    var start: Duration
  }

  private let node: FleetNode
  private let end: @Sendable () -> Void
  private let state: Locked<State>

  /// - Parameters:
  ///   - limit: How long the backend has.
  ///   - node: The node that waits.
  ///   - end: Ends the wait. Called with no lock held, unless it is cancelled before.
  init(_ limit: Duration, of node: FleetNode, _ end: @escaping @Sendable () -> Void) {
    self.node = node
    self.end = end
    self.state = Locked(State(start: node.deadlines.elapsed))
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
    let now = self.node.deadlines.elapsed
    let isLate = now - due >= self.node.settings.lookupTimeout / 4
    let (slowAnswer, isBurst) = self.node.state.withLock { ($0.measurements.lastSlowAnswer, $0.isBurst) }
    let isProlonged = self.state.withLock { state -> Bool? in
      if state.isCancelled { return nil }
      let isSlow = isBurst && slowAnswer.map { $0 >= state.start } ?? false
      guard isLate || isSlow, state.extensions < Self.maximumExtensions else { return false }
      state.extensions += 1
      state.start = now
      return true
    }
    guard let isProlonged else { return }
    if isProlonged { self.schedule(after: self.node.settings.lookupTimeout) } else { self.end() }
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
