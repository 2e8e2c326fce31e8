internal import OperationBackoff
internal import OperationCore

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
    case success
    case failure
    /// The run was cancelled, which says nothing about the service.
    case abandoned
  }

  enum Recording: Sendable {
    case done
    /// The breaker has to open. Nothing has changed; the caller repeats the call with an opening for this trip.
    case needsOpening(trip: Int)
  }

  let failureRatio: Double
  let minimumRuns: Int
  let probes: Int

  private(set) var phase = Phase.closed
  private(set) var window: CircuitWindow
  /// Begins with 1, so that 0 can stand for no generation.
  private(set) var generation: UInt64 = 1
  /// How often the breaker has opened since it was last closed.
  private(set) var trips = 0
  /// How often the breaker has opened in all.
  private(set) var totalTrips = 0
  private(set) var rejections = 0
  /// Whether the breaker has become half-open without a run that could send the notice of it.
  var owesHalfOpenNotice = false
  /// The runs that wait beside the probes. There are none unless the breaker is half-open.
  private var waiters = CircuitWaiterQueue()
  /// The waiters with a decision, which the caller resumes after unlocking.
  private var decided: [CircuitWaiter] = []

  /// The number of runs that may wait beside the probes.
  private static let maximumWaiting = 10_000

  init(failureRatio: Double, minimumRuns: Int, window: Duration, probes: Int) {
    self.failureRatio = failureRatio
    self.minimumRuns = minimumRuns
    self.probes = probes
    self.window = CircuitWindow(length: window)
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
  /// Admits a run, rejects it, or lets it wait beside the probes.
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
    case .halfOpen(let running, let succeeded) where running + succeeded < self.probes:
      self.phase = .halfOpen(running: running + 1, succeeded: succeeded)
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
    case .closed: return self.count(outcome, at: now, opening)
    case .halfOpen(let running, let succeeded):
      return self.endProbe(outcome, running: running - 1, succeeded: succeeded, at: now, opening)
    // No run is admitted in these phases.
    case .open, .isolated: return .done
    }
  }

  private mutating func count(_ outcome: Outcome, at now: Duration, _ opening: CircuitOpening?) -> Recording {
    let isFailure: Bool
    switch outcome {
    case .abandoned: return .done
    case .success: isFailure = false
    case .failure: isFailure = true
    }
    self.window.advance(to: now)
    let (runs, failures) = (self.window.runs + 1, self.window.failures + (isFailure ? 1 : 0))
    // A quotient is rounded once, like the literal of the ratio: 7 of 100 are exactly 0.07, but 0.07 * 100 is above 7.
    guard runs >= self.minimumRuns, Double(failures) / Double(runs) >= self.failureRatio else {
      self.window.add(isFailure: isFailure)
      return .done
    }
    return self.open(opening, at: now)
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
    case .failure: return self.open(opening, at: now)
    case .success where succeeded + 1 >= self.probes: self.close()
    case .success: self.phase = .halfOpen(running: running, succeeded: succeeded + 1)
    }
    return .done
  }
}

// MARK: - Waiting runs

extension CircuitMachine {
  /// The waiters that have a decision. The caller resumes them after unlocking.
  mutating func takeDecided() -> [CircuitWaiter] {
    // Not assigned without need: most changes decide about no waiter.
    if self.decided.isEmpty { return [] }
    defer { self.decided = [] }
    return self.decided
  }

  /// Decides about a run that may wait. Does nothing if there is a decision.
  mutating func decide(_ decision: CircuitDecision, for waiter: CircuitWaiter) {
    guard waiter.decision == nil else { return }
    self.waiters.remove(waiter)
    if case .rejected = decision { self.rejections += 1 }
    waiter.decision = decision
    self.decided.append(waiter)
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

  private mutating func decideForAll(_ decision: CircuitDecision) {
    while let waiter = self.waiters.popFirst() { self.decide(decision, for: waiter) }
  }
}

// MARK: - Transitions

extension CircuitMachine {
  private mutating func open(_ opening: CircuitOpening?, at now: Duration) -> Recording {
    guard let opening, opening.trip == self.trips + 1 else { return .needsOpening(trip: self.trips + 1) }
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

  /// Closes the breaker, and forgets all results.
  mutating func close() {
    self.trips = 0
    self.enter(.closed)
    self.decideForAll(.admitted(self.generation, isProbe: false))
  }

  mutating func isolate() {
    self.enter(.isolated)
    self.decideForAll(.rejected(retryAfter: nil))
  }

  private mutating func enter(_ phase: Phase) {
    self.phase = phase
    self.generation += 1
    self.window.removeAll()
  }
}
