public import OperationBackoff
public import OperationCore
internal import Synchronization

/// The settings of retries, which can be changed while operations use them.
///
/// ```swift
/// let settings = RetrySettings(name: "posts", limit: 3)
/// let query = PostQuery(id: 1).retry(using: settings)
///
/// settings.update(limit: 1)  // From the next failure on, also in runs that have begun.
/// ```
///
/// Share one object among the operations that call one service. Where a setting is nil, the context has it.
public final class RetrySettings: Sendable {
  struct Values: Sendable {
    var limit: Int
    var backoff: OperationBackoffFunction?
    var budget: RetryBudget?
    var retryAfterCap: OperationDuration?
    var retryAfterJitter: RetryAfterJitter?
  }

  /// The name of the settings in notices and snapshots; nil without a name.
  public let name: String?

  private let state: Locked<Values>
  private let retryCount = Atomic(0)
  private let refusalCount = Atomic(0)

  /// Creates settings.
  ///
  /// - Parameters:
  ///   - name: The name of the settings in notices and snapshots, without user data.
  ///   - limit: The number of retries after the first attempt. A negative number is reported and counts as 0.
  ///   - backoff: The delays between attempts; nil to take them from the context.
  ///   - budget: Bounds the retries; nil for the budget of the context.
  ///   - retryAfterCap: The longest delay that an error can ask for; nil to take it from the context. A negative one is
  ///     reported and counts as zero.
  ///   - retryAfterJitter: How the delays that errors ask for spread; nil for the jitter of the context.
  public init(
    name: String? = nil,
    limit: Int = 3,
    backoff: OperationBackoffFunction? = nil,
    budget: RetryBudget? = nil,
    retryAfterCap: OperationDuration? = nil,
    retryAfterJitter: RetryAfterJitter? = nil
  ) {
    self.name = name
    self.state = Locked(
      Values(
        limit: limit.validRetryLimit,
        backoff: backoff,
        budget: budget,
        retryAfterCap: retryAfterCap?.validCap,
        retryAfterJitter: retryAfterJitter
      )
    )
  }

  /// The number of retries after the first attempt.
  public var limit: Int { self.state.withLock { $0.limit } }

  /// Changes settings, also while operations use them.
  ///
  /// Impossible settings are reported with a warning. Then nothing changes.
  ///
  /// - Parameters:
  ///   - limit: The number of retries after the first attempt, at least 0; nil leaves it as it is.
  ///   - backoff: The delays between attempts; nil leaves them as they are.
  ///   - budget: Bounds the retries; nil leaves the budget as it is. Runs that have begun keep theirs.
  ///   - retryAfterCap: The longest delay that an error can ask for, at least zero; nil leaves it as it is.
  ///   - retryAfterJitter: How the delays that errors ask for spread; nil leaves the jitter as it is.
  ///   - context: Its observers receive the notice ``OperationCore/OperationNotice/Name/retrySettingsChanged``.
  /// - Returns: Whether the settings are possible.
  @discardableResult
  public func update(
    limit: Int? = nil,
    backoff: OperationBackoffFunction? = nil,
    budget: RetryBudget? = nil,
    retryAfterCap: OperationDuration? = nil,
    retryAfterJitter: RetryAfterJitter? = nil,
    in context: OperationContext = OperationContext()
  ) -> Bool {
    let problem = Self.problem(limit: limit) ?? Self.problem(retryAfterCap: retryAfterCap)
    if OperationWarning.refuses(problem, by: self.displayName) { return false }
    // The earlier values have functions and generators of users, which are released after unlocking.
    let (earlier, current) = self.state.withLock { values in
      let earlier = values
      if let limit { values.limit = limit }
      if let backoff { values.backoff = backoff }
      if let budget { values.budget = budget }
      if let retryAfterCap { values.retryAfterCap = retryAfterCap }
      if let retryAfterJitter { values.retryAfterJitter = retryAfterJitter }
      return (earlier, values)
    }
    var change = SettingsChange(of: self.name.map { ["retry.name": .string($0)] } ?? [:])
    change.add("retry.limit", from: .integer(earlier.limit), to: .integer(current.limit))
    change.add("retry.backoff", from: .text(earlier.backoff), to: .text(current.backoff), isReplaced: backoff != nil)
    change.add("retry.budget", from: .text(earlier.budget), to: .text(current.budget), isReplaced: budget != nil)
    change.add(
      "retry.after_cap",
      from: earlier.retryAfterCap.map { .duration($0) },
      to: current.retryAfterCap.map { .duration($0) }
    )
    change.add(
      "retry.after_jitter",
      from: .text(earlier.retryAfterJitter),
      to: .text(current.retryAfterJitter),
      isReplaced: retryAfterJitter != nil
    )
    context.send(.retrySettingsChanged, of: change)
    return true
  }

  private static func problem(limit: Int?) -> String? {
    guard let limit, limit < 0 else { return nil }
    return "A retry cannot have `limit: \(limit)`. Pass 0 for operations that are not retried."
  }

  private static func problem(retryAfterCap cap: Duration?) -> String? {
    guard let cap, cap < .zero else { return nil }
    return "A delay of a retry cannot have `retryAfterCap: \(cap)`. Pass zero or more."
  }

  /// The settings and what has become of the retries, at one moment.
  ///
  /// - Parameter context: A context whose `operationDeadlines` provide the time of the budget.
  /// - Returns: A snapshot. Taking it changes nothing.
  public func snapshot(in context: OperationContext = OperationContext()) -> RetrySettingsSnapshot {
    let values = self.values
    return RetrySettingsSnapshot(
      name: self.displayName,
      limit: values.limit,
      backoff: values.backoff.map { "\($0)" },
      budget: values.budget?.snapshot(in: context),
      retries: self.retryCount.load(ordering: .relaxed),
      refusals: self.refusalCount.load(ordering: .relaxed)
    )
  }
}

extension RetrySettings {
  var values: Values { self.state.withLock { $0 } }

  var displayName: String { self.name ?? "retry settings" }

  func noteRetry() {
    self.retryCount.add(1, ordering: .relaxed)
  }

  func noteRefusal() {
    self.refusalCount.add(1, ordering: .relaxed)
  }
}

extension RetrySettings: CustomStringConvertible {
  /// The name and the limit.
  public var description: String { "\(self.displayName): at most \(self.limit) retries" }
}

extension OperationDuration {
  /// The longest delay that an error can ask for. A negative one is reported and counts as zero.
  fileprivate var validCap: OperationDuration { self.reportedIfNegative(in: "RetrySettings(retryAfterCap:)") }
}

/// The settings of retries and what has become of these, at one moment, for logs and for a status page.
public struct RetrySettingsSnapshot: Hashable, Sendable, Encodable, CustomStringConvertible {
  /// The name of the settings; `retry settings` without one.
  public let name: String

  /// The number of retries after the first attempt.
  public let limit: Int

  /// The backoff function in words; nil if the context has it.
  public let backoff: String?

  /// The budget; nil if the context has it.
  public let budget: RetryBudgetSnapshot?

  /// The retries with these settings since they were created.
  public let retries: Int

  /// The retries that a budget has refused since the settings were created.
  public let refusals: Int

  /// The snapshot on one line.
  public var description: String {
    """
    \(self.name): at most \(self.limit) retries\(self.backoff.map { ", \($0)" } ?? ""); \
    \(self.retries) made, \(self.refusals) refused
    """
  }
}

extension RetrySettingsSnapshot: OperationResilienceSnapshot {
  /// The limit, and the counts of retries.
  public var gauges: [String: Double] {
    [
      "retry.limit": Double(self.limit), "retry.retries": Double(self.retries),
      "retry.refusals": Double(self.refusals),
    ]
  }
}

extension OperationNotice.Name {
  /// The settings of retries were changed.
  ///
  /// The attributes `retry.limit`, `retry.backoff`, `retry.budget`, `retry.after_cap` and `retry.after_jitter` are the
  /// present settings, those with `.previous` at the end what has changed, and `retry.name` is the name.
  public static let retrySettingsChanged = Self("retry.settings_changed")
}
