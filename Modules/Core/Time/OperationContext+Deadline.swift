extension OperationContext {
  /// The instant by which the run has to end; nil without a deadline.
  ///
  /// Modifiers that wait or try again observe it: a retry does not sleep past it, and begins no attempt after it.
  /// Setting it does not end a run by itself; the modifier `deadline(_:)` of `OperationTimeout` does.
  ///
  /// The instant is one of ``operationDeadlines``: see ``DeadlineSource/instant``.
  public var operationDeadline: ContinuousClock.Instant? {
    get {
      let deadline = self[DeadlineKey.self]
      guard let shared = deadline.shared?.instant else { return deadline.fixed }
      return deadline.fixed.map { min($0, shared) } ?? shared
    }
    set { self[DeadlineKey.self] = Deadline(fixed: newValue) }
  }

  /// The deadline that the callers of the run share; nil if it does not follow its callers.
  public var sharedDeadline: SharedDeadline? { self[DeadlineKey.self].shared }

  /// Lets ``operationDeadline`` follow the callers of the run, in place of the deadline of the first one.
  ///
  /// - Parameter deadline: The deadline of the callers. The deadlines of modifiers stay.
  public mutating func shareDeadline(_ deadline: SharedDeadline) {
    self[DeadlineKey.self] = Deadline(fixed: self.deadlineOfModifiers, shared: deadline)
  }

  /// The deadline that modifiers have set. A deadline that callers share is not part of it.
  var fixedDeadline: ContinuousClock.Instant? {
    get { self[DeadlineKey.self].fixed }
    set { self[DeadlineKey.self].fixed = newValue }
  }

  /// The time until ``operationDeadline``, zero when it has passed; nil without a deadline.
  public var operationTimeRemaining: Duration? {
    self.operationDeadline.map { self.operationDeadlines.timeRemaining(until: $0) }
  }

  private struct Deadline: Sendable {
    var fixed: ContinuousClock.Instant?
    var shared: SharedDeadline?
  }

  private enum DeadlineKey: Key {
    static let defaultValue = Deadline()
  }
}

extension DeadlineSource {
  /// The time until `instant`, at least zero.
  package func timeRemaining(until instant: ContinuousClock.Instant) -> Duration {
    let now = self.instant
    // Compared before the subtraction, which traps where the difference is out of range.
    return instant <= now ? .zero : now.duration(to: instant)
  }
}
