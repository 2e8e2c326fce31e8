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
  /// Admits a run, or rejects it.
  ///
  /// - Parameter now: The elapsed time.
  /// - Returns: The generation of the run.
  mutating func admit(at now: Duration) -> Result<UInt64, CircuitOpen> {
    self.endOpening(at: now)
    switch self.phase {
    case .closed:
      return .success(self.generation)
    case .halfOpen(let running, let succeeded) where running + succeeded < self.probes:
      self.phase = .halfOpen(running: running + 1, succeeded: succeeded)
      return .success(self.generation)
    case .halfOpen, .isolated:
      self.rejections += 1
      return .failure(CircuitOpen(retryAfter: nil))
    case .open(let opening):
      self.rejections += 1
      return .failure(CircuitOpen(retryAfter: opening.end - now))
    }
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
      return self.endProbe(outcome, running: running - 1, succeeded: succeeded, opening)
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
    return self.open(opening)
  }

  private mutating func endProbe(
    _ outcome: Outcome,
    running: Int,
    succeeded: Int,
    _ opening: CircuitOpening?
  ) -> Recording {
    switch outcome {
    case .abandoned: self.phase = .halfOpen(running: running, succeeded: succeeded)
    case .failure: return self.open(opening)
    case .success where succeeded + 1 >= self.probes: self.close()
    case .success: self.phase = .halfOpen(running: running, succeeded: succeeded + 1)
    }
    return .done
  }
}

// MARK: - Transitions

extension CircuitMachine {
  private mutating func open(_ opening: CircuitOpening?) -> Recording {
    guard let opening, opening.trip == self.trips + 1 else { return .needsOpening(trip: self.trips + 1) }
    self.trips += 1
    self.totalTrips += 1
    self.enter(.open(opening))
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
  }

  mutating func isolate() {
    self.enter(.isolated)
  }

  private mutating func enter(_ phase: Phase) {
    self.phase = phase
    self.generation += 1
    self.window.removeAll()
  }
}
