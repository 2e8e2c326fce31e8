internal import OperationCore

/// Why a run that waits for the run of another node goes on.
enum WakeReason: Sendable {
  /// A value was stored, the lease has ended or was released, or that is to be found out.
  case change
  /// The backend does not answer.
  case away
  /// The node has left the fleet.
  case closed
  /// The caller was cancelled.
  case cancelled
}

/// The runs of a node that wait for runs of other nodes, by the texts of their keys.
struct FleetWaits: Sendable {
  private struct Wait: Sendable {
    let key: FleetKey
    /// The lowest revision of a value that one of the runs does not want.
    var knownRevision: Int64
    var outcomes: [AwaitedOutcome<WakeReason>] = []
  }

  private var waits: [String: Wait] = [:]
  /// Where the next look begins, among the keys.
  private var position = 0

  var isEmpty: Bool { self.waits.isEmpty }

  var count: Int { self.waits.count }

  /// The keys that runs wait for, up to the size of one call: of more, others each time.
  mutating func nextKeys() -> [FleetKey] {
    if self.position >= self.waits.count { self.position = 0 }
    let keys = self.waits.values.dropFirst(self.position).prefix(FleetLimits.batch).map(\.key)
    self.position += keys.count
    return keys
  }

  /// Whether a value that was looked up is one that a run waits for.
  func want(_ value: FleetValue?, of key: FleetKey) -> Bool {
    guard let value, let wait = self.waits[key.text] else { return false }
    return value.revision > wait.knownRevision
  }

  mutating func add(_ outcome: AwaitedOutcome<WakeReason>, for key: FleetKey, knownRevision: Int64?) {
    let revision = knownRevision ?? 0
    var wait = self.waits[key.text] ?? Wait(key: key, knownRevision: revision)
    wait.outcomes.append(outcome)
    wait.knownRevision = min(wait.knownRevision, revision)
    self.waits[key.text] = wait
  }

  mutating func remove(_ outcome: AwaitedOutcome<WakeReason>, for key: FleetKey) {
    self.waits[key.text]?.outcomes.removeAll { $0 === outcome }
    if self.waits[key.text]?.outcomes.isEmpty == true { self.waits[key.text] = nil }
  }

  mutating func removeAll(for key: String) -> [AwaitedOutcome<WakeReason>] {
    self.waits.removeValue(forKey: key)?.outcomes ?? []
  }

  mutating func removeAll() -> [AwaitedOutcome<WakeReason>] {
    defer { self.waits = [:] }
    return self.waits.values.flatMap(\.outcomes)
  }
}

extension FleetNode {
  func wake(_ key: String) {
    for wait in self.state.withLock({ $0.waits.removeAll(for: key) }) { wait.decide(.change) }
  }

  func wakeAll() {
    for wait in self.state.withLock({ $0.waits.removeAll() }) { wait.decide(.change) }
  }

  /// Looks for the values that runs wait for, so that neither a lost message nor an absent backend delays them for long.
  ///
  /// One call for all of them, twice in each ``FleetSettings/lookupTimeout``, while there are any.
  func watch() {
    let half = self.settings.lookupTimeout / 2
    let isNeeded = self.state.withLock { !$0.isClosed && !$0.waits.isEmpty && $0.timers.watch == nil }
    guard isNeeded else { return }
    let timer = self.deadlines.schedule(after: half) { [weak self] in
      self?.start("look for values") { await self?.performWatch(within: half) }
    }
    let surplus = self.state.withLock { state -> OperationSubscription? in
      if state.isClosed || state.timers.watch != nil { return timer }
      state.timers.watch = timer
      return nil
    }
    surplus?.cancel()
  }

  private func performWatch(within limit: Duration) async {
    let (keys, now) = (self.state.withLock { $0.waits.nextKeys() }, self.deadlines.elapsed)
    if !keys.isEmpty, !self.isAlone {
      switch await self.call(within: limit, { try await $0.lookUp(keys) }) {
      case .success(let lookup):
        for (key, value) in zip(keys, lookup.values) where self.state.withLock({ $0.waits.want(value, of: key) }) {
          self.wake(key.text)
        }
        self.note(lookup.epoch, askedAt: now)
      case .failure(let error):
        // A backend that has answered others meanwhile has much to do. The next look decides.
        let isPresent = self.state.withLock { $0.measurements.lastAnswer.map { $0 > now } ?? false }
        if !isPresent { self.noteFailure(error) }
      }
    }
    let former = self.state.withLock { $0.timers.watch.take() }
    _ = consume former  // Released after unlocking.
    self.watch()
  }
}
