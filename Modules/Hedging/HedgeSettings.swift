public import OperationCore
internal import Synchronization

/// The settings of hedges, which can be changed while operations use them.
///
/// ```swift
/// let settings = HedgeSettings(name: "posts", after: .quantile(0.95), maximum: 2)
/// let query = PostQuery(id: 1).hedged(using: settings)
///
/// settings.update(maximum: 1)  // From the next run on, nothing is hedged.
/// ```
///
/// Share one object among the operations that call one service: a quantile then follows the runs of all of them.
public final class HedgeSettings: Sendable {
  struct Values: Sendable {
    var delay: HedgeDelay
    var maximum: Int
    var budget: RetryBudget?
  }

  struct Counts: Sendable {
    var runs = 0
    var hedges = 0
    var wins = 0
    var refusals = 0
  }

  /// The name of the settings in notices and snapshots; nil without a name.
  public let name: String?

  /// Whether several modifiers may use the settings, and a budget may be added at any time.
  let isShared: Bool
  private let state: Mutex<Values>
  private let latencies = Mutex(HedgeLatencies())
  private let counts = Mutex(Counts())

  /// Creates settings.
  ///
  /// - Parameters:
  ///   - name: The name of the settings in notices and snapshots, without user data.
  ///   - delay: How long to wait after a run has begun before the next one begins.
  ///   - maximum: The highest number of runs, the first included. A number below 1 is reported and counts as 1, which
  ///     hedges nothing.
  ///   - budget: Bounds the runs besides the first; nil for no bound.
  public convenience init(
    name: String? = nil,
    after delay: HedgeDelay,
    maximum: Int = 2,
    budget: RetryBudget? = nil
  ) {
    self.init(name, Values(delay: delay, maximum: maximum.validHedgeMaximum, budget: budget), isShared: true)
  }

  init(_ name: String?, _ values: Values, isShared: Bool) {
    self.name = name
    self.isShared = isShared
    self.state = Mutex(values)
  }

  /// How long to wait after a run has begun before the next one begins.
  public var delay: HedgeDelay { self.values.delay }

  /// The highest number of runs, the first included.
  public var maximum: Int { self.values.maximum }

  /// Changes settings, also while operations use them. Runs that have begun keep what they have begun with.
  ///
  /// Impossible settings are reported with a warning. Then nothing changes.
  ///
  /// - Parameters:
  ///   - delay: How long to wait after a run has begun before the next one begins, at least zero; nil leaves it as it is.
  ///   - maximum: The highest number of runs, the first included: at least 1, which hedges nothing; nil leaves it as it
  ///     is.
  ///   - budget: Bounds the runs besides the first; nil leaves the budget as it is.
  ///   - context: Its observers receive the notice ``OperationCore/OperationNotice/Name/hedgeSettingsChanged``.
  /// - Returns: Whether the settings are possible.
  @discardableResult
  public func update(
    after delay: HedgeDelay? = nil,
    maximum: Int? = nil,
    budget: RetryBudget? = nil,
    in context: OperationContext = OperationContext()
  ) -> Bool {
    let problem = maximum.flatMap { maximum in
      maximum < 1 ? "A hedge cannot have `maximum: \(maximum)`. Pass 1 for operations that are not hedged." : nil
    }
    if OperationWarning.refuses(problem ?? delay?.problem, by: self.name ?? "HedgeSettings") { return false }
    let (old, new) = self.state.withLock { values in
      let old = values
      if let delay { values.delay = delay }
      if let maximum { values.maximum = maximum }
      if let budget { values.budget = budget }
      return (old, values)
    }
    var change = SettingsChange(of: self.nameAttributes)
    change.add("hedge.delay", from: .string(old.delay.text), to: .string(new.delay.text))
    change.add("hedge.maximum", from: .integer(old.maximum), to: .integer(new.maximum))
    change.add("hedge.budget", from: .text(old.budget), to: .text(new.budget), isReplaced: old.budget !== new.budget)
    context.send(.hedgeSettingsChanged, of: change)
    return true
  }

  /// The settings and what has become of the hedges, at one moment.
  ///
  /// - Parameter context: A context whose `operationDeadlines` provide the time of the budget.
  /// - Returns: A snapshot. Taking it changes nothing.
  public func snapshot(in context: OperationContext = OperationContext()) -> HedgeSettingsSnapshot {
    let (values, counts) = (self.values, self.counts.withLock { $0 })
    return HedgeSettingsSnapshot(
      name: self.name ?? "hedge",
      delay: values.delay.text,
      currentDelay: self.currentDelay(values.delay),
      maximum: values.maximum,
      budget: values.budget?.snapshot(in: context),
      runs: counts.runs,
      hedges: counts.hedges,
      wins: counts.wins,
      refusals: counts.refusals
    )
  }
}

extension HedgeSettings {
  var values: Values { self.state.withLock { $0 } }

  /// The name for notices, if there is one.
  var nameAttributes: [String: OperationNotice.Value] { self.name.map { ["hedge.name": .string($0)] } ?? [:] }

  /// How long to wait before the next hedge; nil to start none.
  func currentDelay(_ delay: HedgeDelay) -> Duration? {
    switch delay.kind {
    case .fixed(let duration): max(duration, .zero)
    case .quantile(let quantile, let minimumRuns):
      self.latencies.withLock { $0.quantile(quantile, minimumRuns: minimumRuns) }
    }
  }

  /// Records how long a run has taken.
  func record(_ duration: Duration) {
    self.latencies.withLock { $0.add(max(duration, .zero)) }
  }

  func count(_ change: (inout Counts) -> Void) {
    self.counts.withLock { change(&$0) }
  }
}

extension HedgeSettings: CustomStringConvertible {
  /// The name, the delay and the maximum.
  public var description: String {
    let values = self.values
    return "\(self.name ?? "hedge"): after \(values.delay.text), at most \(values.maximum) runs"
  }
}

extension Int {
  /// The number as a maximum of runs. One below 1 is reported and counts as 1.
  fileprivate var validHedgeMaximum: Int {
    guard self < 1 else { return self }
    OperationWarning(
      code: .invalidArgument,
      message: "A hedge was given `maximum: \(self)`, which counts as 1. Pass 1 for an operation that is not hedged."
    ).report()
    return 1
  }
}

/// The settings of hedges and what has become of these, at one moment, for logs and for a status page.
public struct HedgeSettingsSnapshot: Hashable, Sendable, Encodable, CustomStringConvertible {
  /// The name of the settings; `hedge` without one.
  public let name: String

  /// The delay as it is written.
  public let delay: String

  /// How long the next run waits before it is hedged; nil while there are too few runs for a quantile.
  public let currentDelay: OperationDuration?

  /// The highest number of runs, the first included.
  public let maximum: Int

  /// The budget; nil without one.
  public let budget: RetryBudgetSnapshot?

  /// The hedged runs since the settings were created, each counted once.
  public let runs: Int

  /// The runs that were started during or after a first one.
  public let hedges: Int

  /// The hedged runs whose value came from a run other than the first.
  public let wins: Int

  /// The further runs that a budget has refused.
  public let refusals: Int

  /// The snapshot on one line.
  public var description: String {
    """
    \(self.name): after \(self.delay), at most \(self.maximum) runs; \
    \(self.runs) runs, \(self.hedges) hedges, of which \(self.wins) won, \(self.refusals) refused
    """
  }
}

extension HedgeSettingsSnapshot: OperationResilienceSnapshot {
  /// The maximum and the counts, and the current delay in seconds if there is one.
  public var gauges: [String: Double] {
    var gauges = [
      "hedge.maximum": Double(self.maximum), "hedge.runs": Double(self.runs), "hedge.hedges": Double(self.hedges),
      "hedge.wins": Double(self.wins),
      "hedge.refusals": Double(self.refusals),
    ]
    gauges["hedge.delay"] = self.currentDelay?.seconds
    return gauges
  }
}

extension OperationNotice.Name {
  /// The settings of hedges were changed.
  ///
  /// The attributes `hedge.delay`, `hedge.maximum` and `hedge.budget` are the present settings, those with `.previous` at the
  /// end what has changed, and `hedge.name` is the name.
  public static let hedgeSettingsChanged = Self("hedge.settings_changed")
}
