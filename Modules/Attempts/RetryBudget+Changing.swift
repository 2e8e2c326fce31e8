public import OperationCore
internal import Synchronization

extension RetryBudget {
  /// Changes the numbers of the budget, also while runs use it.
  ///
  /// The deposits of the last ten seconds keep their value, and the attempts that need no deposit are cut to ten seconds
  /// of the new minimum. A number above a billion counts as a billion. Impossible numbers are reported with a warning.
  /// Then nothing changes.
  ///
  /// - Parameters:
  ///   - ratio: The number of additional attempts for each run, at least 0; nil leaves it as it is.
  ///   - minimumPerSecond: The number of additional attempts in each second that need no deposit, at least 0; nil leaves
  ///     it as it is.
  ///   - context: Its observers receive the notice ``OperationCore/OperationNotice/Name/retryBudgetChanged``.
  /// - Returns: Whether the numbers are possible.
  @discardableResult
  public func update(
    ratio: Double? = nil,
    minimumPerSecond: Double? = nil,
    in context: OperationContext = OperationContext()
  ) -> Bool {
    let problem = Numbers.problem("ratio", ratio) ?? Numbers.problem("minimumPerSecond", minimumPerSecond)
    if OperationWarning.refuses(problem, by: self.name ?? "RetryBudget") { return false }
    let changesRatio = ratio != nil
    let changesMinimum = minimumPerSecond != nil
    let given = Numbers(ratio: ratio ?? 0, minimumPerSecond: minimumPerSecond ?? 0)
    let (earlier, current) = self.state.withLock { state in
      let earlier = state.numbers
      // The time of the context is not used: the context of the caller need not have the clock of the runs.
      if changesRatio {
        state.deposits.convert(from: state.numbers.share.denominator, to: given.share.denominator)
        state.numbers.ratio = given.ratio
        state.numbers.share = given.share
      }
      if changesMinimum {
        state.numbers.minimumPerSecond = given.minimumPerSecond
        state.reserve.change(perSecond: Fraction(given.minimumPerSecond), at: state.now)
      }
      return (earlier, state.numbers)
    }
    var change = SettingsChange(of: self.nameAttributes)
    change.add("budget.ratio", from: .number(earlier.ratio), to: .number(current.ratio))
    change.add("budget.minimum", from: .number(earlier.minimumPerSecond), to: .number(current.minimumPerSecond))
    context.send(.retryBudgetChanged, of: change)
    return true
  }

  /// The name of the budget for notices, if it has one.
  package var nameAttributes: [String: OperationNotice.Value] {
    self.name.map { ["budget.name": .string($0)] } ?? [:]
  }

  /// The numbers of the budget and what is left of it, at one moment.
  ///
  /// - Parameter context: A context whose ``/OperationCore/OperationContext/operationDeadlines`` provide the time.
  /// - Returns: A snapshot. Taking it changes nothing.
  public func snapshot(in context: OperationContext = OperationContext()) -> RetryBudgetSnapshot {
    let elapsed = context.elapsed
    // A copy: the context may have another clock than the runs, and must not advance their time.
    var state = self.state.withLock { $0 }
    state.now = max(state.now, elapsed)
    return RetryBudgetSnapshot(
      name: self.name ?? "retry budget",
      ratio: state.numbers.ratio,
      minimumPerSecond: state.numbers.minimumPerSecond,
      available: state.available(),
      runs: state.runCount,
      withdrawals: state.withdrawalCount,
      refusals: state.refusalCount
    )
  }
}

/// The numbers of a ``RetryBudget`` and what is left of it, at one moment, for logs and for a status page.
public struct RetryBudgetSnapshot: Hashable, Sendable, Encodable, CustomStringConvertible {
  /// The name of the budget; `retry budget` for one without a name.
  public let name: String

  /// The number of additional attempts for each run.
  public let ratio: Double

  /// The number of additional attempts in each second that need no deposit.
  public let minimumPerSecond: Double

  /// The additional attempts that the budget allows now.
  public let available: Int

  /// The runs that have deposited since the budget was created, without runs that were rejected in this process.
  public let runs: Int

  /// The additional attempts since the budget was created, without attempts that were rejected in this process.
  public let withdrawals: Int

  /// The additional attempts that the budget has refused since it was created.
  public let refusals: Int

  /// The snapshot on one line.
  public var description: String {
    """
    \(self.name): \(self.available) left, of \(self.ratio) for each run and \(self.minimumPerSecond) a second; \
    \(self.runs) runs, \(self.withdrawals) further attempts, \(self.refusals) refused
    """
  }
}

extension RetryBudgetSnapshot: OperationResilienceSnapshot {
  /// What is left, the numbers and the counts.
  public var gauges: [String: Double] {
    [
      "budget.available": Double(self.available), "budget.ratio": self.ratio,
      "budget.minimum": self.minimumPerSecond, "budget.runs": Double(self.runs),
      "budget.withdrawals": Double(self.withdrawals), "budget.refusals": Double(self.refusals),
    ]
  }
}

extension OperationNotice.Name {
  /// The numbers of a retry budget were changed.
  ///
  /// The attributes `budget.ratio` and `budget.minimum` are the present numbers, and `budget.name` is the name. A
  /// number that has changed has a second attribute with its earlier value, such as `budget.ratio.previous`.
  public static let retryBudgetChanged = Self("retry.budget_changed")
}
