public import OperationCore

/// What a hedged run begins with.
@usableFromInline
struct HedgeStart: Sendable {
  /// The context of the runs.
  @usableFromInline let context: OperationContext
  @usableFromInline let runs: HedgeRuns
  let settings: HedgeSettings
  let values: HedgeSettings.Values
  /// The elapsed time at which the first run begins.
  let elapsed: Duration
  /// Whether the hedge has deposited for the run, and not a modifier outside of it.
  let hasDeposited: Bool
}

extension HedgeStart {
  /// Records the end of a first run that has succeeded before anything else happened.
  @usableFromInline
  func recordSuccess(of first: FirstOutcome) {
    if self.values.delay.isQuantile { self.settings.record(first.end - self.elapsed) }
  }
}

extension HedgeSettings {
  /// Begins a hedged run, and deposits for it; nil if nothing is to be hedged.
  @usableFromInline
  func start(in context: OperationContext) -> HedgeStart? {
    let values = self.values
    guard values.maximum > 1 else { return nil }
    self.count { $0.runs &+= 1 }
    var context = context
    let hasDeposited = values.budget?.depositOnce(for: &context) ?? false
    let places = context.countsFurtherRuns ? HedgePlaces(in: context) : nil
    return HedgeStart(
      context: context,
      runs: HedgeRuns(isTimed: values.delay.isQuantile, places: places),
      settings: self,
      values: values,
      elapsed: context.elapsed,
      hasDeposited: hasDeposited
    )
  }
}
