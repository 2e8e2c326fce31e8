public import OperationCore

extension StatefulOperationRequest where Self: Sendable, Failure == any Error {
  /// Begins a run only when no other has been asked for a while: for a path that changes with each letter that is typed.
  ///
  /// ```swift
  /// let search = SearchQuery(text: text).debounced(for: .milliseconds(300))
  /// ```
  ///
  /// A call waits for `delay`. If another one comes meanwhile, also for another path of the same group, the call gives way: it
  /// ends with a `CancellationError`, and the run of a store for another path is cancelled, also if it is under way. The value
  /// of that store stays as it was, without an error. Only calls and the runs for new subscribers wait and give way. Polling,
  /// invalidations, prefetching and further attempts of a retry do neither.
  ///
  /// - Parameters:
  ///   - delay: The time without another call, by ``/OperationCore/OperationContext/operationDeadlines``. A negative duration is
  ///     reported and counts as zero.
  ///   - leading: Whether a call that no other has come before, for `delay`, begins at once. False by default.
  ///   - prefix: The prefix of the group's paths; nil for the path without its last element. A client has its own groups.
  /// - Returns: The operation, whose calls wait.
  public func debounced(
    for delay: Duration,
    leading: Bool = false,
    among prefix: OperationPath? = nil
  ) -> ModifiedOperation<Self, Pacing<Self>> {
    let delay = delay.reportedIfNegative(in: "debounced(for:leading:among:)").clampedForClock
    return self.modifier(Pacing(.debounce(delay, leading: leading), among: prefix))
  }

  /// Begins at most one run in a period: for a path that changes with each letter that is typed, or with a slider.
  ///
  /// The first call begins at once. Of those that come in the period after it, the newest begins at the end. The others give way,
  /// as for ``debounced(for:leading:among:)``: each ends with a `CancellationError`, and the run of a store for another path
  /// is cancelled.
  ///
  /// - Parameters:
  ///   - period: The least time between the beginnings of two runs, by ``/OperationCore/OperationContext/operationDeadlines``. A
  ///     negative duration is reported and counts as zero.
  ///   - prefix: The prefix of the group's paths; nil for the path without its last element. A client has its own groups.
  /// - Returns: The operation, whose calls wait.
  public func throttled(
    for period: Duration,
    among prefix: OperationPath? = nil
  ) -> ModifiedOperation<Self, Pacing<Self>> {
    let period = period.reportedIfNegative(in: "throttled(for:among:)").clampedForClock
    return self.modifier(Pacing(.throttle(period), among: prefix))
  }
}

/// The modifier that `.debounced(for:leading:among:)` and `.throttled(for:among:)` apply.
public struct Pacing<Operation: StatefulOperationRequest & SendableMetatype>: OperationModifier
where Operation.Failure == any Error {
  private let rule: PaceRule
  private let prefix: OperationPath?

  init(_ rule: PaceRule, among prefix: OperationPath?) {
    (self.rule, self.prefix) = (rule, prefix)
  }

  public var sourceText: String { self.rule.sourceText }

  /// Runs the operation when its call is due, unless a newer one has come.
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    guard context.isPaced else { return try await operation.run(isolation: isolation, in: context, with: continuation) }
    let path = operation.path
    let prefix = self.prefix ?? OperationPath(path.dropLast())
    let group = PaceGroups.of(context.operationClient).group(of: prefix, deadlines: context.operationDeadlines)
    let call = PacedCall(path, in: context)
    defer { group.end(call) }
    if let wait = try group.enter(call, by: self.rule) {
      let rule = self.rule
      try await context.awaiting("its turn: \(rule.sourceText)") {
        try await call.wait(for: wait, on: context.operationDeadlines)
      }
      try group.begin(call, by: rule)
    }
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

extension OperationContext {
  /// Whether someone has asked for the run, such as by typing.
  fileprivate var isPaced: Bool {
    switch self.operationRunCause?.kind {
    case nil, .call, .subscriber: true
    default: false
    }
  }
}
