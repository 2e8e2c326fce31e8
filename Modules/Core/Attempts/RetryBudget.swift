/// Bounds the additional attempts of operations to a share of their runs, so that retries do not overload a server.
///
/// ```swift
/// let budget = RetryBudget(ratio: 0.2, minimumPerSecond: 10)
/// ```
///
/// Each run deposits ``ratio``, and each additional attempt, such as a retry or a hedge, withdraws 1. So while a server
/// fails, 100 runs make at most 20 additional attempts. A deposit expires after ten seconds. An attempt that the
/// deposits do not cover is still allowed up to ``minimumPerSecond`` times a second, for operations that run rarely.
///
/// Make one budget for each server, and pass it to all operations that use the server. The arithmetic is exact: with a
/// ratio of 0.6, five runs pay for three attempts.
///
/// It follows the rules of
/// [Finagle's budget](https://twitter.github.io/finagle/guide/Clients.html#retries), except that the minimum
/// accumulates for one second, and not for ten.
public final class RetryBudget: Sendable {
  private struct State: Sendable {
    var deposits = DepositWindow()
    var reserve: RetryReserve
    /// The latest time that a caller has passed. The time of a budget never decreases.
    var now = Duration.zero
  }

  /// The number of additional attempts for each run.
  public let ratio: Double

  /// The number of additional attempts in each second that need no deposit.
  public let minimumPerSecond: Double

  // Deposits are counted in units of `1 / share.denominator`, so that they are integers.
  private let share: Fraction
  private let state: Locked<State>

  /// Creates a budget.
  ///
  /// A number that is negative or NaN is reported and counts as 0; a number above a billion counts as a billion.
  ///
  /// - Parameters:
  ///   - ratio: The number of additional attempts for each run.
  ///   - minimumPerSecond: The number of additional attempts in each second that need no deposit.
  public init(ratio: Double = 0.2, minimumPerSecond: Double = 10) {
    let ratio = ratio.validBudgetNumber("ratio")
    let minimum = minimumPerSecond.validBudgetNumber("minimumPerSecond")
    self.ratio = ratio
    self.minimumPerSecond = minimum
    self.share = Fraction(ratio)
    self.state = Locked(State(reserve: RetryReserve(perSecond: Fraction(minimum))))
  }
}

extension RetryBudget {
  /// Deposits for the run with this context, once for each run, however many modifiers of the run call this.
  ///
  /// Modifiers that withdraw call it before the first attempt, and pass the changed context to the attempts.
  ///
  /// - Parameter context: The context of the run, which records that the run has deposited.
  public func deposit(for context: inout OperationContext) {
    guard context.markRun(fundedBy: self) else { return }
    let elapsed = context.operationDeadlines.elapsed
    self.change(at: elapsed) { $0.deposits.add(self.share.numerator, at: $1) }
  }

  /// Withdraws 1 for an additional attempt.
  ///
  /// - Parameter context: The context of the run, whose ``OperationContext/operationDeadlines`` provide the time.
  /// - Returns: False if the budget does not allow the attempt; nothing is withdrawn then.
  public func withdraw(in context: OperationContext) -> Bool {
    let elapsed = context.operationDeadlines.elapsed
    return self.change(at: elapsed) { state, now in
      state.deposits.take(self.share.denominator, at: now) || state.reserve.take(at: now)
    }
  }

  /// Counts the additional attempts that the budget allows now.
  ///
  /// - Parameter context: A context whose ``OperationContext/operationDeadlines`` provide the time.
  /// - Returns: The number of attempts. Nothing is withdrawn.
  public func available(in context: OperationContext) -> Int {
    let elapsed = context.operationDeadlines.elapsed
    return self.change(at: elapsed) { state, now in
      let funded = state.deposits.balance(at: now) / self.share.denominator
      return funded.saturatingSum(state.reserve.count(at: now))
    }
  }

  private func change<R: Sendable>(at elapsed: Duration, _ body: (inout State, Duration) -> R) -> R {
    self.state.withLock { state in
      state.now = max(state.now, elapsed)
      return body(&state, state.now)
    }
  }
}

extension RetryBudget: CustomStringConvertible {
  /// The numbers of the budget.
  public var description: String { "\(self.ratio) for each run, and \(self.minimumPerSecond) a second" }
}

extension Double {
  /// The number as an argument of a budget. A negative number or NaN is reported and counts as 0.
  fileprivate func validBudgetNumber(_ name: String) -> Double {
    guard self >= 0 else {
      OperationWarning(
        code: .invalidArgument,
        message: "A retry budget was given `\(name): \(self)`, which counts as 0. Pass a number that is 0 or more."
      ).report()
      return 0
    }
    return min(self, Fraction.maximum)
  }
}
