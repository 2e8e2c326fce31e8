internal import OperationBackoff
internal import OperationCore
internal import OperationFoundation

/// The state machine of a ``CircuitBreaker``: a value that the lock of the breaker guards.
///
/// Each transition increments the generation. A run remembers the generation in which it was admitted, and its result
/// counts in that generation only.
struct CircuitMachine: Sendable {
  enum Phase: Sendable {
    case closed
    case open(CircuitOpening)
    case halfOpen(running: Int, succeeded: Int)
    case isolated
  }

  enum Outcome: Sendable {
    case success(isSlow: Bool)
    case failure(isSlow: Bool)
    /// The run was cancelled, which says nothing about the service.
    case abandoned
  }

  enum Recording: Sendable {
    case done
    /// The breaker has to open. Nothing has changed; the caller repeats the call with an opening for this trip.
    case needsOpening(trip: Int)
  }

  /// Why the breaker has opened.
  enum Trigger: String, Sendable {
    case failures
    case slowRuns = "slow_runs"
    case probe
    case halfOpenTime = "half_open_time"
  }

  private(set) var settings: CircuitSettings
  private(set) var phase = Phase.closed
  private(set) var window: CircuitHistory
  /// Begins with 1, so that 0 can stand for no generation.
  private(set) var generation: UInt64 = 1
  /// How often the breaker has opened since it was last closed.
  private(set) var trips = 0
  /// How often the breaker has opened in all.
  private(set) var totalTrips = 0
  private(set) var rejections = 0
  /// How often the breaker would have opened, but too many others of its group were open.
  private(set) var preventedTrips = 0
  /// The last opening; nil while the breaker is closed or isolated.
  private(set) var lastOpening: CircuitOpening?
  /// Why the breaker has opened last.
  private(set) var trigger = Trigger.failures
  /// When the breaker has left the closed state; nil while it is closed, and for an isolated one.
  private(set) var openSince: Date?
  /// When the time of a half-open breaker is over, from its first probe on; nil for any time.
  private(set) var halfOpenEnd: Duration?
  /// What bounds how many breakers of a group are open at once, and whether this one counts there.
  private var gate: CircuitGate?
  private var holdsGate = false
  /// The states that the breaker has entered without a run that could send the notice of it.
  var unsentStates: [CircuitBreaker.State] = []
  /// The runs that wait for the probes, or for their turn after the breaker has closed. Otherwise there are none.
  private var waiters = CircuitWaiterQueue()
  /// The runs with a decision, which the caller resumes after unlocking.
  private var decided: [CircuitWaiter.Resumption] = []

  /// The number of runs that may wait for the probes.
  private static let maximumWaiting = 10_000

  init(_ settings: CircuitSettings) {
    self.settings = settings
    self.window = CircuitHistory(window: settings.window, lastRuns: settings.lastRuns)
  }

  var state: CircuitBreaker.State {
    switch self.phase {
    case .closed: .closed
    case .open(let opening): .open(until: opening.date)
    case .halfOpen: .halfOpen
    case .isolated: .isolated
    }
  }
}

// MARK: - Runs

extension CircuitMachine {
  /// Admits a run, rejects it, or lets it wait for the probes.
  ///
  /// - Parameters:
  ///   - waiter: The run as a waiter; nil if it does not wait.
  ///   - now: The elapsed time.
  /// - Returns: The decision; nil if the run waits.
  mutating func admit(_ waiter: CircuitWaiter?, at now: Duration) -> CircuitDecision? {
    self.endOpening(at: now)
    switch self.phase {
    case .closed:
      return .admitted(self.generation, isProbe: false)
    case .halfOpen(let running, let succeeded) where running + succeeded < self.settings.probes:
      self.phase = .halfOpen(running: running + 1, succeeded: succeeded)
      if self.halfOpenEnd == nil, let length = self.settings.halfOpenFor { self.halfOpenEnd = now + length }
      return .admitted(self.generation, isProbe: true)
    case .halfOpen:
      guard let waiter, self.waiters.count < Self.maximumWaiting else { return self.reject(retryAfter: nil) }
      self.waiters.append(waiter)
      return nil
    case .isolated:
      return self.reject(retryAfter: nil)
    case .open(let opening):
      return self.reject(retryAfter: opening.end - now)
    }
  }

  private mutating func reject(retryAfter: Duration?) -> CircuitDecision {
    self.rejections += 1
    return .rejected(retryAfter: retryAfter)
  }

  /// Counts the outcome of a run, unless the breaker has changed its state since the run was admitted.
  ///
  /// - Parameters:
  ///   - outcome: The outcome of the run.
  ///   - generation: The generation in which the run was admitted.
  ///   - now: The elapsed time.
  ///   - opening: The opening to use if the breaker opens; nil if it is not computed yet.
  /// - Returns: Whether the call has to be repeated with an opening, because the outcome opens the breaker.
  mutating func record(
    _ outcome: Outcome,
    of generation: UInt64,
    at now: Duration,
    opening: CircuitOpening? = nil
  ) -> Recording {
    guard generation == self.generation else { return .done }
    switch self.phase {
    case .closed:
      let recording = self.count(outcome, at: now, opening)
      if self.waiters.count > 0, case .done = recording { self.admitWaiting(after: outcome) }
      return recording
    case .halfOpen(let running, let succeeded):
      return self.endProbe(outcome, running: running - 1, succeeded: succeeded, at: now, opening)
    // No run is admitted in these phases.
    case .open, .isolated: return .done
    }
  }

  private mutating func count(_ outcome: Outcome, at now: Duration, _ opening: CircuitOpening?) -> Recording {
    let (isFailure, isSlow): (Bool, Bool)
    switch outcome {
    case .abandoned: return .done
    case .success(let slow): (isFailure, isSlow) = (false, slow)
    case .failure(let slow): (isFailure, isSlow) = (true, slow)
    }
    self.window.advance(to: now)
    let trigger = self.trigger(isFailure: isFailure, isSlow: isSlow)
    guard let trigger, self.gate?.hasPlace ?? true else {
      if trigger != nil { self.preventedTrips += 1 }
      self.window.add(isFailure: isFailure, isSlow: isSlow)
      return .done
    }
    return self.open(opening, because: trigger, at: now)
  }

  /// Why the breaker opens with one more result; nil if it does not.
  private func trigger(isFailure: Bool, isSlow: Bool) -> Trigger? {
    let (runs, failures, slow) = self.window.counts(adding: isFailure, isSlow)
    guard runs >= self.settings.neededRuns else { return nil }
    // A quotient is rounded once, like the literal of the ratio: 7 of 100 are exactly 0.07, but 0.07 * 100 is above 7.
    if Double(failures) / Double(runs) >= self.settings.failureRatio { return .failures }
    guard self.settings.slowAfter != nil else { return nil }
    return Double(slow) / Double(runs) >= self.settings.slowRatio ? .slowRuns : nil
  }

  private mutating func endProbe(
    _ outcome: Outcome,
    running: Int,
    succeeded: Int,
    at now: Duration,
    _ opening: CircuitOpening?
  ) -> Recording {
    switch outcome {
    case .abandoned: self.passProbe(running: running, succeeded: succeeded)
    case .failure, .success(isSlow: true): return self.open(opening, because: .probe, at: now)
    case .success where succeeded + 1 >= self.settings.probes: self.close()
    case .success: self.phase = .halfOpen(running: running, succeeded: succeeded + 1)
    }
    return .done
  }
}

// MARK: - Waiting runs

extension CircuitMachine {
  /// The runs that have a decision. The caller resumes them after unlocking.
  mutating func takeDecided() -> [CircuitWaiter.Resumption] {
    // Not assigned without need: most changes decide about no waiter.
    if self.decided.isEmpty { return [] }
    defer { self.decided = [] }
    return self.decided
  }

  /// Decides about a run that may wait. Does nothing if there is a decision.
  mutating func decide(_ decision: CircuitDecision, for waiter: CircuitWaiter) {
    guard waiter.state.waiter.outcome == nil else { return }
    self.waiters.remove(waiter)
    if case .rejected = decision { self.rejections += 1 }
    if let resumption = waiter.state.waiter.decide(decision) { self.decided.append(resumption) }
  }

  /// Gives the place of a probe that says nothing to the run that has waited longest.
  private mutating func passProbe(running: Int, succeeded: Int) {
    guard let waiter = self.waiters.popFirst() else {
      self.phase = .halfOpen(running: running, succeeded: succeeded)
      return
    }
    self.phase = .halfOpen(running: running + 1, succeeded: succeeded)
    self.decide(.admitted(self.generation, isProbe: true), for: waiter)
  }

  /// Decides about a run that has waited for its longest time. A closed breaker admits it: it only had no turn yet.
  mutating func endWait(of waiter: CircuitWaiter) {
    if case .closed = self.phase {
      self.decide(.admitted(self.generation, isProbe: false), for: waiter)
    } else {
      self.decide(.rejected(retryAfter: nil), for: waiter)
    }
  }

  /// Admits waiting runs when one has ended in a closed breaker: two after a success, so that their number doubles with
  /// each round, and one after anything else. A service that is just back would not bear all at once.
  private mutating func admitWaiting(after outcome: Outcome) {
    if case .success(isSlow: false) = outcome { self.admitWaiting(2) } else { self.admitWaiting(1) }
  }

  private mutating func admitWaiting(_ count: Int) {
    for _ in 0..<count {
      guard let waiter = self.waiters.popFirst() else { return }
      self.decide(.admitted(self.generation, isProbe: false), for: waiter)
    }
  }

  private mutating func decideForAll(_ decision: CircuitDecision) {
    while let waiter = self.waiters.popFirst() { self.decide(decision, for: waiter) }
  }
}

// MARK: - Transitions

extension CircuitMachine {
  private mutating func open(_ opening: CircuitOpening?, because trigger: Trigger, at now: Duration) -> Recording {
    guard let opening, opening.trip == self.trips + 1 else { return .needsOpening(trip: self.trips + 1) }
    // Only a closed breaker has no place of its own yet.
    guard self.takePlace(isForced: false) else {
      self.preventedTrips += 1
      return .done
    }
    self.trigger = trigger
    self.lastOpening = opening
    if self.openSince == nil { self.openSince = opening.start }
    self.trips += 1
    self.totalTrips += 1
    self.enter(.open(opening))
    self.decideForAll(.rejected(retryAfter: opening.end - now))
    return .done
  }

  /// Lets probes begin if the breaker has been open for long enough.
  mutating func endOpening(at now: Duration) {
    guard case .open(let opening) = self.phase, now >= opening.end else { return }
    self.enter(.halfOpen(running: 0, succeeded: 0))
  }

  /// Closes the breaker, and forgets all results. The first of the runs that wait begin.
  mutating func close() {
    self.trips = 0
    self.lastOpening = nil
    self.openSince = nil
    self.leavePlace()
    self.enter(.closed)
    self.admitWaiting(2 * self.settings.probes)
  }

  mutating func isolate() {
    self.lastOpening = nil
    self.openSince = nil
    _ = self.takePlace(isForced: true)
    self.enter(.isolated)
    self.decideForAll(.rejected(retryAfter: nil))
  }

  private mutating func enter(_ phase: Phase) {
    self.phase = phase
    self.halfOpenEnd = nil
    self.generation += 1
    self.window.removeAll()
  }
}

// MARK: - The time in half open

extension CircuitMachine {
  /// The trip and the opening that it follows, if the time of a half-open breaker is over; nil otherwise.
  func overdueHalfOpen(at now: Duration) -> (trip: Int, earlier: CircuitOpening, end: Duration)? {
    guard case .halfOpen = self.phase, let end = self.halfOpenEnd, end <= now, let lastOpening else { return nil }
    return (self.trips + 1, lastOpening, end)
  }

  /// Opens a half-open breaker whose time is over. Returns false if the opening is for another trip.
  mutating func endHalfOpen(with opening: CircuitOpening, at now: Duration) -> Bool {
    guard self.overdueHalfOpen(at: now) != nil else { return true }
    if case .needsOpening = self.open(opening, because: .halfOpenTime, at: now) { return false }
    return true
  }
}

// MARK: - Groups

extension CircuitMachine {
  /// Bounds the breaker together with others. A breaker that is not closed counts at once.
  mutating func join(_ gate: CircuitGate) {
    self.leavePlace()
    self.gate = gate
    if case .closed = self.phase { return }
    _ = self.takePlace(isForced: true)
  }

  /// Frees the place of a breaker that its group forgets. It goes on without the bound.
  mutating func leaveGate() {
    self.leavePlace()
    self.gate = nil
  }

  private mutating func takePlace(isForced: Bool) -> Bool {
    guard let gate, !self.holdsGate else { return true }
    self.holdsGate = gate.take(isForced: isForced)
    return self.holdsGate
  }

  private mutating func leavePlace() {
    guard self.holdsGate else { return }
    self.holdsGate = false
    self.gate?.leave()
  }
}

// MARK: - Other settings

extension CircuitMachine {
  /// Changes the settings. The results are forgotten if others are counted from now on.
  mutating func update(_ settings: CircuitSettings) {
    let counts = (self.settings.window, self.settings.lastRuns)
    self.settings = settings
    if counts != (settings.window, settings.lastRuns) {
      self.window = CircuitHistory(window: settings.window, lastRuns: settings.lastRuns)
    }
    guard case .halfOpen(let running, let succeeded) = self.phase else { return }
    if settings.halfOpenFor == nil { self.halfOpenEnd = nil }
    // As many probes as are needed now have succeeded already.
    if succeeded >= settings.probes { return self.close() }
    var places = settings.probes - running - succeeded
    var admitted = 0
    while places > 0, let waiter = self.waiters.popFirst() {
      self.decide(.admitted(self.generation, isProbe: true), for: waiter)
      places -= 1
      admitted += 1
    }
    self.phase = .halfOpen(running: running + admitted, succeeded: succeeded)
  }

  /// The runs that wait for the probes, or for their turn.
  var waitingCount: Int { self.waiters.count }

  /// The probes that are under way.
  var runningProbes: Int {
    if case .halfOpen(let running, _) = self.phase { running } else { 0 }
  }
}
