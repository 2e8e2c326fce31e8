public import OperationBackoff
public import OperationCore
public import OperationFoundation
public import Synchronization

/// Rejects runs for a while after too many have failed: a failing service gets no load, and callers fail at once.
///
/// ```swift
/// let breaker = CircuitBreaker(failureRatio: 0.5, minimumRuns: 20, window: .seconds(30))
/// let query = PostQuery(id: 1).circuitBreaker(breaker)
/// ```
///
/// A breaker is shared: make one for each service, and pass it to all operations that call the service.
///
/// While it is **closed**, it counts the runs of the last `window`. It **opens** as soon as there are at least
/// `minimumRuns`, of which at least `failureRatio` have failed. While it is open, it rejects all runs with
/// ``CircuitOpen``. After the time that `openFor` returns it is **half-open**: it admits as many runs as there are
/// `probes`, and the others wait for their result. If all probes succeed, it closes; the first one that fails opens it
/// again.
///
/// The runs that wait for the probes begin when the breaker closes, and are rejected when it opens, with the time until it
/// admits a run. So many callers that retry use up none of their retries on a service that is back. Up to 10,000 runs
/// wait, in the order in which they came, each up to `probeWait` and the deadline of its context. A run that is cancelled
/// meanwhile ends at once. A run that a probe itself makes does not wait, because it would wait for itself.
///
/// Beside failures it counts slow runs, if ``init(name:failureRatio:minimumRuns:window:lastRuns:slowAfter:slowRatio:openFor:probes:probeWait:halfOpenFor:counts:)``
/// is given a time after which a run is slow: it opens when `slowRatio` of the runs were slow. With `lastRuns` it counts
/// that many runs, however long ago they were, in place of the window. ``update(failureRatio:minimumRuns:window:lastRuns:slowAfter:slowRatio:openFor:probes:probeWait:halfOpenFor:in:)``
/// changes all of this while runs are under way.
///
/// The result of a run counts only if the breaker has not changed its state since it admitted the run. A cancelled run
/// and one that ends with a ``/OperationCore/LocalRejection`` count neither as a success nor as a failure. As a probe,
/// such a run gives its place to the one that has waited longest, when it is cancelled, and not when its body ends.
///
/// The elapsed time comes from the deadlines of the context of each run, so all operations that share a breaker must
/// use the same. The breaker has no timer: once the time has passed, it becomes half-open when a run begins or its
/// state is read.
///
/// M. Nygard describes the pattern in *Release It!*, 2007. Slow runs, the two windows and the time in half open follow
/// [resilience4j](https://resilience4j.readme.io/docs/circuitbreaker).
public final class CircuitBreaker: Sendable {
  private let machine: Mutex<CircuitMachine>
  /// The error of the last run that has failed, for the errors of rejected runs; nil before the first failure.
  let lastFailure = Locked<(any Error)?>(nil)
  /// The generation of the machine while it is closed; 0 otherwise. It admits runs of a closed breaker without a lock.
  @usableFromInline let closedGeneration = Atomic<UInt64>(1)
  /// The name of the breaker in notices and snapshots; nil without a name.
  public let name: String?

  /// Whether the duration of runs counts. It spares the others two readings of the clock.
  @usableFromInline let measuresDurations = Atomic<Bool>(false)
  private let counts: @Sendable (any Error) -> Bool
  /// The states, and nil when the breaker is released.
  let broadcast = Broadcast<State?>(.closed)

  /// Creates a closed breaker.
  ///
  /// - Parameters:
  ///   - name: The name of the breaker in notices and snapshots, without user data.
  ///   - failureRatio: The share of failed runs at which the breaker opens, above 0 and at most 1.
  ///   - minimumRuns: The number of runs in the window below which the breaker does not open, at least 1.
  ///   - window: How far back runs are counted, longer than zero. Its resolution is a tenth of its length.
  ///   - lastRuns: The number of runs to count in place of those in `window`, up to a million; nil or 0 to count by time.
  ///     Where it is below `minimumRuns`, it takes the place of that as well.
  ///   - slowAfter: The time after which a run is slow; nil or zero if none is.
  ///   - slowRatio: The share of slow runs at which the breaker opens, above 0 and at most 1.
  ///   - openFor: How long the breaker stays open. It receives 1 when a closed breaker opens, 2 when the following
  ///     probes have failed, and so on.
  ///   - probes: The number of runs that a half-open breaker admits, all of which have to succeed: at least 1.
  ///   - probeWait: The longest time that a run waits for the probes of a half-open breaker. With zero it is rejected
  ///     at once. A negative duration is reported and counts as zero.
  ///   - halfOpenFor: The longest time from the first probe of a half-open breaker to its last, after which it opens
  ///     again; nil or zero for any time. An impossible value of this and of the other three that have a default is
  ///     reported, and the default is used.
  ///   - counts: Whether an error counts as a failure of the service. Other errors count as successes: the service has
  ///     answered. It is not called for cancelled runs and local rejections.
  public init(
    name: String? = nil,
    failureRatio: Double = 0.5,
    minimumRuns: Int = 20,
    window: OperationDuration = .seconds(30),
    lastRuns: Int? = nil,
    slowAfter: OperationDuration? = nil,
    slowRatio: Double = 1,
    openFor: OperationBackoffFunction = .exponential(.seconds(5)).capped(at: .seconds(60)),
    probes: Int = 1,
    probeWait: OperationDuration = .seconds(10),
    halfOpenFor: OperationDuration? = nil,
    counts: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) {
    let problem = CircuitSettings.problem(
      failureRatio: failureRatio,
      minimumRuns: minimumRuns,
      window: window,
      probes: probes
    )
    precondition(problem == nil, problem ?? "")
    let title = name ?? "CircuitBreaker"
    let settings = CircuitSettings(
      failureRatio: failureRatio,
      minimumRuns: minimumRuns,
      window: window.clampedForClock,
      lastRuns: OperationWarning.refuses(CircuitSettings.problem(lastRuns: lastRuns), by: title)
        ? nil : lastRuns.unlessZero,
      slowAfter: OperationWarning.refuses(CircuitSettings.problem(slowAfter, as: "slowAfter"), by: title)
        ? nil : slowAfter.unlessZero,
      slowRatio: OperationWarning.refuses(CircuitSettings.problem(slowRatio: slowRatio), by: title) ? 1 : slowRatio,
      openFor: openFor,
      probes: probes,
      probeWait: probeWait.reportedIfNegative(in: "CircuitBreaker(probeWait:)").clampedForClock,
      halfOpenFor: OperationWarning.refuses(CircuitSettings.problem(halfOpenFor, as: "halfOpenFor"), by: title)
        ? nil : halfOpenFor.unlessZero
    )
    self.name = name
    self.counts = counts
    self.machine = Mutex(CircuitMachine(settings))
    self.measuresDurations.store(settings.slowAfter != nil, ordering: .relaxed)
  }

  deinit {
    self.broadcast.send(nil)
  }
}

// MARK: - State

extension CircuitBreaker {
  /// The state of a circuit breaker.
  @nonexhaustive(warn)
  public enum State: Hashable, Sendable {
    /// Runs are admitted and counted.
    case closed

    /// Runs are rejected until a date, on the clock of the run that opened the breaker.
    case open(until: Date)

    /// A few runs are admitted to see whether the service works again.
    case halfOpen

    /// Runs are rejected until ``CircuitBreaker/reset()``.
    case isolated
  }

  /// The current state.
  ///
  /// Reading it makes an open breaker half-open when its time has come.
  public var state: State { self.state(in: nil) }

  private func state(in context: OperationContext?) -> State {
    let deadlines = self.machine.withLock { $0.lastOpening?.deadlines }
    // Read before locking, because a source of deadlines is user code.
    guard let now = context?.elapsed ?? deadlines?.elapsed else { return self.machine.withLock { $0.state } }
    self.endHalfOpen(at: now)
    return self.change { machine in
      machine.endOpening(at: now)
      return machine.state
    }
  }

  /// Rejects all runs until ``reset()``, such as during maintenance of the service.
  ///
  /// Runs that are under way continue, and their results do not count.
  public func isolate() {
    self.change { $0.isolate() }
  }

  /// Closes the breaker, and forgets all results.
  ///
  /// Runs that are under way continue, and their results do not count.
  public func reset() {
    self.setLastFailure(nil)
    self.change { $0.close() }
  }

  /// The state and the counts of the breaker at this moment.
  ///
  /// - Parameter context: A context whose deadlines give the time. With nil, the run that opened the breaker gives it.
  /// - Returns: A snapshot. Like ``state``, it makes an open breaker half-open when its time has come.
  public func snapshot(in context: OperationContext? = nil) -> Snapshot {
    let state = self.state(in: context)
    return self.machine.withLock { machine in
      Snapshot(
        name: self.name ?? "CircuitBreaker",
        state: state,
        failureRatio: machine.settings.failureRatio,
        minimumRuns: machine.settings.minimumRuns,
        openSince: machine.openSince,
        runs: machine.window.runs,
        failures: machine.window.failures,
        slow: machine.window.slow,
        trips: machine.totalTrips,
        preventedTrips: machine.preventedTrips,
        rejections: machine.rejections,
        probes: machine.runningProbes,
        waiting: machine.waitingCount
      )
    }
  }
}

// MARK: - Runs

extension CircuitBreaker {
  /// The generation of a run that begins now; 0 if the breaker is not closed.
  @inlinable
  var generationIfClosed: UInt64 { self.closedGeneration.load(ordering: .acquiring) }

  /// The elapsed time at the start of a run; nil if durations do not count.
  @inlinable
  func start(in context: OperationContext) -> Duration? {
    self.measuresDurations.load(ordering: .relaxed) ? context.operationDeadlines.elapsed : nil
  }

  @usableFromInline
  func recordSuccess(of generation: UInt64, since start: Duration?, in context: OperationContext) {
    self.record(of: generation, since: start, in: context) { .success(isSlow: $0) }
  }

  /// Records a value that is a failure of the service.
  @usableFromInline
  func recordFailedValue(of generation: UInt64, since start: Duration?, in context: OperationContext) {
    self.record(of: generation, since: start, in: context) { .failure(isSlow: $0) }
  }

  /// Records a failure. Called in the task of the run.
  @usableFromInline
  func recordFailure(
    _ error: any Error,
    of generation: UInt64,
    since start: Duration?,
    in context: OperationContext
  ) {
    guard !error.endsCancelledRun, !error.isLocalRejection else {
      return self.recordAbandonment(of: generation, in: context)
    }
    guard self.counts(error) else { return self.recordSuccess(of: generation, since: start, in: context) }
    self.setLastFailure(error)
    self.record(of: generation, since: start, in: context) { .failure(isSlow: $0) }
  }

  /// Records that a run says nothing about the service.
  func recordAbandonment(of generation: UInt64, in context: OperationContext) {
    self.record(of: generation, since: nil, in: context) { _ in .abandoned }
  }

  private func setLastFailure(_ failure: (any Error)?) {
    // The earlier one is released after unlocking: its `deinit` may be user code.
    self.lastFailure.withLock { current, released in
      released.append(current)
      current = failure
    }
  }

  private func record(
    of generation: UInt64,
    since start: Duration?,
    in context: OperationContext,
    _ outcome: (_ isSlow: Bool) -> CircuitMachine.Outcome
  ) {
    let now = context.elapsed
    let duration = start.map { now - $0 } ?? .zero
    // A closed breaker does not change its state without an opening, so there is no state to deliver.
    let isClosed = self.closedGeneration.load(ordering: .relaxed) == generation
    if !isClosed { self.endHalfOpen(at: now, in: context) }
    let slowAfter = start == nil ? nil : self.machine.withLock { $0.settings.slowAfter }
    let outcome = outcome(slowAfter.map { duration > $0 } ?? false)
    let recording: CircuitMachine.Recording
    if isClosed {
      let (closed, decided) = self.machine.withLock { ($0.record(outcome, of: generation, at: now), $0.takeDecided()) }
      for resumption in decided { resumption.resume() }
      recording = closed
    } else {
      recording = self.change(in: context) { $0.record(outcome, of: generation, at: now) }
    }
    if case .needsOpening(let trip) = recording { self.open(trip, outcome, of: generation, at: now, context) }
  }

  private func open(
    _ trip: Int,
    _ outcome: CircuitMachine.Outcome,
    of generation: UInt64,
    at now: Duration,
    _ context: OperationContext
  ) {
    var trip = trip
    while true {
      // Computed without the lock, because the function and the clocks are user code.
      let opening = CircuitOpening(trip: trip, length: self.openFor(trip: trip), in: context)
      let recording = self.change(in: context) {
        $0.record(outcome, of: generation, at: now, opening: opening)
      }
      guard case .needsOpening(let next) = recording else { return }
      trip = next
    }
  }

  /// How long the breaker stays open. Called without the lock, because the function is user code.
  func openFor(trip: Int) -> Duration {
    let length = self.machine.withLock { $0.settings.openFor }
    return length(trip)
  }

  /// Reads the state under the lock, or changes what concerns no subscriber.
  func withMachine<R: Sendable>(_ body: (inout CircuitMachine) -> R) -> R {
    self.machine.withLock { body(&$0) }
  }

  /// Changes the state under the lock, then delivers the entered state to subscribers and resumes waiting runs.
  ///
  /// - Parameters:
  ///   - context: The context of the run that causes the change, whose observers receive a notice; nil if no run does.
  ///   - body: Makes the change. Called with the lock held.
  /// - Returns: The result of `body`.
  @discardableResult
  func change<R: Sendable>(in context: OperationContext? = nil, _ body: (inout CircuitMachine) -> R) -> R {
    let (result, left, entered, noticed, decided) = self.machine.withLock { machine in
      // An opening retains a source of deadlines, which is user code: it is released after unlocking.
      let left = machine.lastOpening
      let generation = machine.generation
      let result = body(&machine)
      self.closedGeneration.store(machine.closedGeneration, ordering: .releasing)
      let entered = machine.generation != generation ? machine.state : nil
      // Queued under the lock, so that subscribers receive the states in the order in which they were entered.
      if let entered { _ = self.broadcast.enqueue(entered) }
      let noticed = machine.notices(of: entered, areSent: context != nil)
      return (result, left, entered, noticed, machine.takeDecided())
    }
    withExtendedLifetime(left) {}
    if entered != nil { self.broadcast.deliver() }
    if let context { for state in noticed { context.send(self.notice(of: state)) } }
    // After the subscribers, so that a run that begins finds the state delivered.
    for resumption in decided { resumption.resume() }
    return result
  }
}

extension CircuitMachine {
  /// The states whose notices are sent after a change.
  ///
  /// A read of the state makes a breaker half-open, or opens it again, without a run. A notice needs one, so the next run
  /// sends it.
  fileprivate mutating func notices(
    of entered: CircuitBreaker.State?,
    areSent: Bool
  ) -> [CircuitBreaker.State] {
    guard entered != nil || !self.unsentStates.isEmpty else { return [] }
    guard areSent else {
      switch entered {
      case .open?, .halfOpen?: self.unsentStates = (self.unsentStates + [entered].compactMap(\.self)).suffix(2)
      // A breaker that a program closes or isolates sends nothing, and what came before is no longer so.
      case .closed?, .isolated?: self.unsentStates = []
      case nil: break
      }
      return []
    }
    defer { self.unsentStates = [] }
    return self.unsentStates + (entered.map { [$0] } ?? [])
  }

  /// The generation while the breaker is closed; 0 otherwise.
  fileprivate var closedGeneration: UInt64 {
    if case .closed = self.phase { self.generation } else { 0 }
  }
}
