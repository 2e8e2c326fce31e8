public import OperationBackoff
public import OperationCore
internal import Synchronization

extension CircuitBreaker {
  /// Changes the settings while runs are under way.
  ///
  /// The breaker stays in its state, and the results that it has counted stay, unless `window` or `lastRuns` changes: then it
  /// begins to count anew. New ratios hold from the next result on. An opening ends when it would have ended, and the next
  /// one has its length by the new function. A half-open breaker that needs more probes admits the runs that have waited
  /// longest, and one whose new number of probes has succeeded closes. Runs that wait keep their longest wait.
  ///
  /// Impossible settings are reported with a warning. Then nothing changes.
  ///
  /// - Parameters:
  ///   - failureRatio: The share of failed runs at which the breaker opens, above 0 and at most 1; nil to keep it.
  ///   - minimumRuns: The number of runs below which the breaker does not open, at least 1; nil to keep it.
  ///   - window: How far back runs are counted, longer than zero; nil to keep it.
  ///   - lastRuns: The number of runs to count in place of those in the window, up to a million; 0 to count by time; nil to
  ///     keep it.
  ///   - slowAfter: The time after which a run is slow; zero if none is; nil to keep it.
  ///   - slowRatio: The share of slow runs at which the breaker opens, above 0 and at most 1; nil to keep it.
  ///   - openFor: How long the breaker stays open; nil to keep it.
  ///   - probes: The number of runs that a half-open breaker admits, at least 1; nil to keep it.
  ///   - probeWait: The longest time that a run waits beside the probes, zero for none; nil to keep it.
  ///   - halfOpenFor: The longest time from the first probe to the last; zero for any time; nil to keep it. A breaker that
  ///     is half-open keeps its end, unless the new time is any.
  ///   - context: Its observers receive the notice ``OperationCore/OperationNotice/Name/circuitSettingsChanged``.
  /// - Returns: Whether the settings are possible.
  @discardableResult
  public func update(
    failureRatio: Double? = nil,
    minimumRuns: Int? = nil,
    window: OperationDuration? = nil,
    lastRuns: Int? = nil,
    slowAfter: OperationDuration? = nil,
    slowRatio: Double? = nil,
    openFor: OperationBackoffFunction? = nil,
    probes: Int? = nil,
    probeWait: OperationDuration? = nil,
    halfOpenFor: OperationDuration? = nil,
    in context: OperationContext = OperationContext()
  ) -> Bool {
    let problem =
      CircuitSettings.problem(failureRatio: failureRatio, minimumRuns: minimumRuns, window: window, probes: probes)
      ?? CircuitSettings.problem(lastRuns: lastRuns) ?? CircuitSettings.problem(slowAfter, as: "slowAfter")
      ?? CircuitSettings.problem(slowRatio: slowRatio) ?? CircuitSettings.problem(probeWait, as: "probeWait")
      ?? CircuitSettings.problem(halfOpenFor, as: "halfOpenFor")
    if OperationWarning.refuses(problem, by: self.name ?? "CircuitBreaker") { return false }
    // The function is user code, which is released after unlocking.
    let (earlier, current) = self.change { machine -> (CircuitSettings, CircuitSettings) in
      let earlier = machine.settings
      var settings = earlier
      if let failureRatio { settings.failureRatio = failureRatio }
      if let minimumRuns { settings.minimumRuns = minimumRuns }
      if let window { settings.window = window.clampedForClock }
      if let lastRuns { settings.lastRuns = Optional(lastRuns).unlessZero }
      if let slowAfter { settings.slowAfter = Optional(slowAfter).unlessZero }
      if let slowRatio { settings.slowRatio = slowRatio }
      if let openFor { settings.openFor = openFor }
      if let probes { settings.probes = probes }
      if let probeWait { settings.probeWait = probeWait.clampedForClock }
      if let halfOpenFor { settings.halfOpenFor = Optional(halfOpenFor).unlessZero }
      machine.update(settings)
      self.measuresDurations.store(settings.slowAfter != nil, ordering: .relaxed)
      return (earlier, settings)
    }
    let change = SettingsChange(of: self.nameAttributes, from: earlier, to: current, isFunctionReplaced: openFor != nil)
    context.send(.circuitSettingsChanged, of: change)
    return true
  }

  /// Opens a half-open breaker whose time has passed. The opening begins when the time has passed.
  ///
  /// - Parameters:
  ///   - now: The elapsed time.
  ///   - context: The context of the run that finds it out, whose observers receive the notice; nil if no run does.
  func endHalfOpen(at now: Duration, in context: OperationContext? = nil) {
    while let overdue = self.withMachine({ $0.overdueHalfOpen(at: now) }) {
      let length = self.openFor(trip: overdue.trip)
      let opening = CircuitOpening(trip: overdue.trip, length: length, at: overdue.end, after: overdue.earlier)
      if self.change(in: context, { $0.endHalfOpen(with: opening, at: now) }) { return }
    }
  }
}

extension Int? {
  /// Nil where the number is 0.
  var unlessZero: Int? { self == 0 ? nil : self }
}

extension Duration? {
  /// Nil where the duration is zero; otherwise one that a clock can wait for.
  var unlessZero: Duration? { self == .zero ? nil : self?.clampedForClock }
}
