public import OperationFoundation

/// Whether the value of a store is stale, why, and since when.
public struct OperationStaleness: Hashable, Sendable {
  /// Why a value is stale or fresh. Later versions may have more cases, so a `switch` needs a default.
  @nonexhaustive(warn)
  public enum Reason: Hashable, Sendable {
    /// The operation runs only when it is called, so its value is not refreshed.
    case neverRefreshed
    /// The store was invalidated. A run that refreshes it has this cause.
    case invalidated(OperationRunCause)
    /// A rule says that the value is stale. The reason follows "because".
    case rule(String)
    /// The operation has no rule for staleness.
    case noRule
    /// No rule says that the value is stale.
    case fresh
  }

  /// Whether the value should be fetched again, as ``OperationStore/isStale`` says.
  public let isStale: Bool

  /// Why the value is stale or fresh.
  public let reason: Reason

  /// Since when the value is stale, by the clock of the store; nil if it is fresh, or if that is unknown.
  public let since: Date?

  /// When a fresh value becomes stale; nil if it is stale, or if no rule knows the date.
  public let freshUntil: Date?
}

extension OperationStaleness: CustomStringConvertible {
  /// The finding and its reason: `stale, because its value is older than 1 min`.
  public var description: String {
    if self.reason == .neverRefreshed { return "never refreshed, because it runs only when it is called" }
    return self.explanation.map { "stale, because \($0)" } ?? "fresh"
  }

  /// Why the value is stale, to follow "because". Nil for a fresh value, and for a value that is never refreshed.
  public var explanation: String? {
    guard self.isStale else { return nil }
    switch self.reason {
    case .invalidated(let cause): return "of \(cause)"
    case .rule(let reason): return reason
    case .noRule: return "it has no rule for staleness"
    case .neverRefreshed, .fresh: return nil
    }
  }
}

extension OperationStaleness: Encodable {
  private enum CodingKeys: String, CodingKey {
    case isStale, reason, since, freshUntil
  }

  /// Encodes the finding, the dates, and the reason as text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(self.isStale, forKey: .isStale)
    try container.encode(self.description, forKey: .reason)
    try container.encodeIfPresent(self.since, forKey: .since)
    try container.encodeIfPresent(self.freshUntil, forKey: .freshUntil)
  }
}

extension OperationStore {
  /// Whether the value is stale, why, and since when.
  ///
  /// - Complexity: O(*n*) in the number of staleness rules.
  public var staleness: OperationStaleness { self.runtime.staleness }
}

extension OpaqueOperationStore {
  /// Whether the value is stale, why, and since when.
  ///
  /// - Complexity: O(*n*) in the number of staleness rules.
  public var staleness: OperationStaleness { self.runtime.staleness }
}

extension StoreRuntime {
  var staleness: OperationStaleness {
    let (state, context, isInvalidated, record) = self.withMachine {
      ($0.state, $0.context, $0.isInvalidated, $0.extras?.content.invalidation)
    }
    let invalidation = isInvalidated ? OperationStaleness(of: record) : nil
    let typed = state.typed
    return context.staleness(
      of: typed,
      state.stamp,
      afterInvalidation: invalidation,
      isRefreshed: self.allowsAutomaticRuns
    )
  }
}

extension OperationStaleness {
  /// The staleness after an invalidation that was not answered.
  init(of invalidation: InvalidationRecord?) {
    let cause = invalidation.map { OperationRunCause(.invalidation($0)) } ?? OperationRunCause(.invalidation)
    self.init(isStale: true, reason: .invalidated(cause), since: invalidation?.date, freshUntil: nil)
  }
}

extension OperationContext {
  /// Whether a state is stale, the first reason that there is for it, and the earliest date of all reasons.
  ///
  /// - Parameters:
  ///   - state: A state of the store with this context.
  ///   - stamp: The stamp of its value.
  ///   - invalidation: The staleness after an invalidation that was not answered; nil without one.
  ///   - isRefreshed: Whether the operation runs by itself, so that a stale value is refreshed.
  /// - Returns: The finding.
  func staleness(
    of state: some OperationState,
    _ stamp: ValueStamp,
    afterInvalidation invalidation: OperationStaleness?,
    isRefreshed: Bool
  ) -> OperationStaleness {
    let rules = self.stalenessRules
    if !isRefreshed, invalidation == nil {
      let isStale = rules.isStale(state, stamp, in: self)
      return OperationStaleness(isStale: isStale, reason: .neverRefreshed, since: nil, freshUntil: nil)
    }
    let finding = rules.finding(of: state, stamp, in: self)
    let since = [invalidation?.since, finding?.since].compactMap(\.self).min()
    if let reason = invalidation?.reason ?? finding?.reason {
      return OperationStaleness(isStale: true, reason: reason, since: since, freshUntil: nil)
    }
    let end = rules.freshPeriod(of: state, stamp, in: self)?.end
    return OperationStaleness(isStale: false, reason: .fresh, since: nil, freshUntil: end)
  }
}
