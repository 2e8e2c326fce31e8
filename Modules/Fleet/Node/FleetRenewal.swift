internal import OperationCore

/// Renews the lease of a run until it ends, three times in its duration.
final class FleetRenewal: Sendable {
  private struct State: Sendable {
    var timer: OperationSubscription?
    var isCancelled = false
  }

  private let lease: FleetLease
  private let node: FleetNode
  private let state = Locked(State())

  init(of lease: FleetLease, node: FleetNode, end: Duration) {
    self.lease = lease
    self.node = node
    // The answer may have taken a part of the duration.
    self.schedule(after: max(end - node.deadlines.elapsed, .zero) / 3)
  }

  private func schedule(after duration: Duration) {
    let timer = self.node.deadlines.schedule(after: max(duration, .milliseconds(1))) { [weak self] in
      guard let self else { return }
      self.node.start("renew a lease") { await self.renew() }
    }
    let surplus = self.state.withLock { state -> OperationSubscription? in
      if state.isCancelled { return timer }
      defer { state.timer = timer }
      return state.timer
    }
    surplus?.cancel()
  }

  private func renew() async {
    let (lease, duration) = (self.lease, self.node.settings.leaseDuration)
    // A node that has left has given the lease back.
    if self.state.withLock({ $0.isCancelled }) || self.node.connection == .left { return }
    let limit = min(duration / 3, self.node.settings.lookupTimeout)
    let answer = await self.node.callInTurn(within: limit, isUrgent: true) {
      try await $0.renewLease(lease, for: duration)
    }
    switch answer.result {
    // Lost: another node may run. The value of this run will be refused.
    case .success(false): return
    case .success(true): self.schedule(after: duration / 3)
    case .failure, nil: self.schedule(after: duration / 3)
    }
  }

  /// Stops the renewals. The lease ends by its time, or by a call.
  func cancel() {
    let timer = self.state.withLock { state in
      state.isCancelled = true
      return state.timer.take()
    }
    timer?.cancel()
  }
}
