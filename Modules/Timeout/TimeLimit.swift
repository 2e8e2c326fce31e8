public import OperationCore

/// When a run has to end, as the modifier specifies it.
@usableFromInline
enum TimeLimit: Sendable {
  /// Some time after the modifier has begun.
  case duration(Duration)
  /// At an instant, which all modifiers of the operation observe.
  case deadline(FixedDeadline)
  /// Some time after the start of the run, which all modifiers of the operation observe.
  case deadlineAfter(Duration)
  /// At the deadline of the context, if it has one.
  case ofContext
}

extension TimeLimit {
  /// The modifier as it is written.
  var sourceText: String {
    switch self {
    case .duration(let duration): ".timeout(\(duration.roundedText))"
    case .deadline: ".deadline(_:)"
    case .deadlineAfter(let duration): ".deadline(after: \(duration.roundedText))"
    case .ofContext: ".deadline()"
    }
  }

  /// The time from the start; nil for an instant.
  var duration: Duration? {
    switch self {
    case .duration(let duration), .deadlineAfter(let duration): duration
    case .deadline, .ofContext: nil
    }
  }

  /// Whether a run with this context has no limit.
  @inlinable
  func isAbsent(in context: OperationContext) -> Bool {
    if case .ofContext = self { context.operationDeadline == nil } else { false }
  }

  /// The deadline of a run that starts now; nil for a timeout.
  func instant(in context: OperationContext) -> ContinuousClock.Instant? {
    switch self {
    case .duration: nil
    case .ofContext: context.operationDeadline
    case .deadline(let deadline): deadline.instant
    case .deadlineAfter(let duration): context.operationDeadlines.instant.advanced(by: duration.clampedForClock)
    }
  }

  /// The deadline for the plan of the operation; nil for a timeout.
  var planned: PlannedDeadline.Limit? {
    switch self {
    case .duration, .ofContext: nil
    case .deadline(let deadline): .instant(deadline.instant)
    case .deadlineAfter(let duration): .after(duration)
    }
  }
}

/// An instant, stored by reference because copying it directly looks up its layout at run time.
@usableFromInline
final class FixedDeadline: Sendable {
  let instant: ContinuousClock.Instant

  init(_ instant: ContinuousClock.Instant) {
    self.instant = instant
  }
}
