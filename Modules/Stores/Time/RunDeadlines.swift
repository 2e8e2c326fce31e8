/// A deadline of a modifier, found in the setup of its operation.
package struct PlannedDeadline: Sendable {
  /// When the deadline is.
  package enum Limit: Sendable {
    case instant(ContinuousClock.Instant)
    /// Some time after the start of the run.
    case after(Duration)
  }

  let id: OutcomeModifierIdentifier
  let limit: Limit
  /// The fallbacks outside of the modifier.
  var fallbacks: [OutcomeModifierIdentifier] = []
}

/// The deadlines of one run.
///
/// They apply from the start of the run, so modifiers outside of a deadline observe it as well.
struct RunDeadlines: Sendable {
  struct Limit: Sendable {
    let id: OutcomeModifierIdentifier
    let instant: ContinuousClock.Instant
    /// The time from the start of the run that was asked for.
    let asked: Duration
    let fallbacks: [OutcomeModifierIdentifier]
  }

  /// The deadline of the caller; nil for none, or if the callers share one.
  let callers: Limit?
  /// The deadlines of the modifiers, from the outermost to the innermost.
  let limits: [Limit]
  /// The number of limits whose modifiers have been entered: they are outside of the current one.
  var enteredCount = 0

  /// Creates the deadlines of a run that starts now.
  init(_ planned: [PlannedDeadline], in context: OperationContext) {
    let now = context.operationDeadlines.instant
    self.callers = context.fixedDeadline.map {
      Limit(id: OutcomeModifierIdentifier(), instant: $0, asked: now.time(until: $0), fallbacks: [])
    }
    self.limits = planned.map { deadline in
      let (instant, asked) =
        switch deadline.limit {
        case .instant(let instant): (instant, now.time(until: instant))
        case .after(let duration): (now.advanced(by: duration.clampedForClock), duration)
        }
      return Limit(id: deadline.id, instant: instant, asked: asked, fallbacks: deadline.fallbacks)
    }
  }

  /// The earliest deadline.
  var earliest: ContinuousClock.Instant? { Self.earliest(of: self.limits[...], self.callers)?.instant }

  /// The earliest deadline of the modifiers.
  var earliestOfModifiers: ContinuousClock.Instant? { Self.earliest(of: self.limits[...], nil)?.instant }

  /// The earliest deadline of the modifiers inside of the current one.
  var earliestInside: ContinuousClock.Instant? {
    Self.earliest(of: self.limits[self.enteredCount...], nil)?.instant
  }

  /// The earliest deadline when a fallback replaces an outcome: those inside of the fallback have ended with it.
  func earliest(outside fallback: OutcomeModifierIdentifier) -> ContinuousClock.Instant? {
    Self.earliest(of: self.limits.filter { !$0.fallbacks.contains(fallback) }[...], self.callers)?.instant
  }

  /// Enters the modifier of a deadline. Returns the earliest of its own and of those outside; nil for a foreign one.
  mutating func enter(_ id: OutcomeModifierIdentifier) -> Limit? {
    guard let index = self.limits.firstIndex(where: { $0.id == id }) else { return nil }
    self.enteredCount = index + 1
    return Self.earliest(of: self.limits[...index], self.callers)
  }

  private static func earliest(of limits: ArraySlice<Limit>, _ callers: Limit?) -> Limit? {
    var earliest = callers
    for limit in limits {
      if let known = earliest, known.instant <= limit.instant { continue }
      earliest = limit
    }
    return earliest
  }
}

extension ContinuousClock.Instant {
  /// The time until `other`, at least zero.
  fileprivate func time(until other: Self) -> Duration {
    // Compared before the subtraction, which traps where the difference is out of range.
    other <= self ? .zero : self.duration(to: other)
  }
}

extension RunDeadlines: CustomStringConvertible {
  var description: String { "\(self.limits.count) deadlines" }
}

// MARK: - In the context

extension OperationContext {
  private enum RunDeadlinesKey: Key {
    static let defaultValue: RunDeadlines? = nil
  }

  private var runDeadlines: RunDeadlines? {
    get { self[RunDeadlinesKey.self] }
    set { self[RunDeadlinesKey.self] = newValue }
  }

  /// Adds a deadline to the runs of the operation that is being set up. A modifier calls it before the operation's
  /// setup.
  ///
  /// - Parameters:
  ///   - id: The modifier.
  ///   - limit: When the deadline is.
  package mutating func planDeadline(_ id: OutcomeModifierIdentifier, _ limit: PlannedDeadline.Limit) {
    self.outcomePlan.deadlines.append(PlannedDeadline(id: id, limit: limit))
    self.addRunWrapper(DeadlineRunWrapper())
  }

  /// The number of deadlines that the setup has found so far.
  package var plannedDeadlineCount: Int { self.hasOutcomePlan ? self.outcomePlan.deadlines.count : 0 }

  /// Records that a fallback is around the deadlines that the setup has found after a number of others.
  package mutating func noteFallback(_ id: OutcomeModifierIdentifier, aroundDeadlinesAfter count: Int) {
    guard count < self.plannedDeadlineCount else { return }
    for index in count..<self.plannedDeadlineCount { self.outcomePlan.deadlines[index].fallbacks.append(id) }
  }

  /// Enters the modifier of a deadline.
  ///
  /// - Parameter id: The modifier.
  /// - Returns: The instant at which the modifier ends the run, and the time that was asked for; nil if the run has
  ///   not been set up with this modifier.
  package mutating func enterDeadline(
    _ id: OutcomeModifierIdentifier
  ) -> (instant: ContinuousClock.Instant, asked: Duration)? {
    guard var deadlines = self.runDeadlines, let limit = deadlines.enter(id) else { return nil }
    self.runDeadlines = deadlines
    return (limit.instant, limit.asked)
  }

  /// A copy of this context for what a fallback runs in place of its operation, whose deadlines do not apply to it.
  package func leavingDeadlines(inside fallback: OutcomeModifierIdentifier) -> OperationContext {
    // The body of another operation may run the fallback. Its context keeps its own deadlines.
    guard let deadlines = self.runDeadlines, deadlines.limits.contains(where: { $0.fallbacks.contains(fallback) })
    else { return self }
    var context = self
    context.fixedDeadline = deadlines.earliest(outside: fallback)
    context.runDeadlines = nil
    return context
  }

  /// The time until the earliest deadline of the modifiers inside, zero when it has passed; nil without one.
  ///
  /// A modifier that waits waits no longer than this, and then runs its operation, which the deadline ends at once. A
  /// deadline outside of it cancels it.
  package var timeUntilDeadlineInside: Duration? {
    guard let instant = self.runDeadlines?.earliestInside else { return nil }
    return self.operationDeadlines.timeRemaining(until: instant)
  }

  /// Whether a fallback may replace the failure of a deadline of the modifiers inside.
  package var hasFallbackAroundDeadlineInside: Bool {
    self.runDeadlines.map { $0.limits[$0.enteredCount...].contains { !$0.fallbacks.isEmpty } } ?? false
  }

  /// The earliest deadline of the modifiers, if the run has begun them.
  var deadlineOfModifiers: ContinuousClock.Instant? { self.runDeadlines?.earliestOfModifiers }

  /// Starts the deadlines of a run.
  fileprivate mutating func startDeadlines() {
    let deadlines = RunDeadlines(self.outcomePlan.deadlines, in: self)
    self.runDeadlines = deadlines
    self.fixedDeadline = deadlines.earliest
  }
}

/// Starts the deadlines of an operation with each run, outside of all its modifiers.
struct DeadlineRunWrapper: OperationRunWrapper {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    _ body: (OperationContext) async -> (any Error)?
  ) async {
    var context = context
    context.startDeadlines()
    _ = await body(context)
  }
}
