public import OperationCore
internal import Synchronization

/// Bounds the additional attempts of operations to a share of their runs, so that retries do not overload a server.
///
/// ```swift
/// let budget = RetryBudget(ratio: 0.2, minimumPerSecond: 10)
/// ```
///
/// Each run deposits ``ratio``, and each additional attempt, such as a retry or a hedge, withdraws 1. So while a server
/// fails, 100 runs make at most 20 additional attempts. A deposit expires after ten seconds. An attempt that the
/// deposits do not cover is still allowed up to ``minimumPerSecond`` times a second, for operations that run rarely. What
/// is not used of that minimum accumulates for ten seconds, so that a screen that makes a hundred requests at once is
/// retried as well.
///
/// Make one budget for each server, and pass it to all operations that use the server. The arithmetic is exact: with a
/// ratio of 0.6, five runs pay for three attempts.
///
/// A run counts when its operation has begun. One that ends with a ``/OperationCore/LocalRejection``, such as an open
/// breaker's, takes its deposit back, and an additional attempt that ends so is given back: neither has reached the
/// server.
///
/// ``update(ratio:minimumPerSecond:in:)`` changes the numbers while runs use the budget, and ``snapshot(in:)`` shows what
/// is left of it.
///
/// It follows the rules of
/// [Finagle's budget](https://twitter.github.io/finagle/guide/Clients.html#retries).
public final class RetryBudget: Sendable {
  struct State: Sendable {
    var numbers: Numbers
    var deposits = DepositWindow()
    var reserve: RetryReserve
    /// The latest time that a caller has passed. The time of a budget never decreases.
    var now = Duration.zero
    var runCount = 0
    var withdrawalCount = 0
    var refusalCount = 0

    init(_ numbers: Numbers) {
      self.numbers = numbers
      self.reserve = RetryReserve(perSecond: Fraction(numbers.minimumPerSecond))
    }

    /// The additional attempts that are allowed at the time of the budget.
    mutating func available() -> Int {
      let funded = max(self.deposits.balance(at: self.now), 0) / self.numbers.share.denominator
      return funded.saturatingSum(self.reserve.count(at: self.now))
    }
  }

  /// What a budget allows.
  struct Numbers: Sendable {
    var ratio: Double
    var minimumPerSecond: Double
    // Deposits are counted in units of `1 / share.denominator`, so that they are integers.
    var share: Fraction

    init(ratio: Double, minimumPerSecond: Double) {
      self.ratio = ratio.validBudgetNumber("ratio")
      self.minimumPerSecond = minimumPerSecond.validBudgetNumber("minimumPerSecond")
      self.share = Fraction(self.ratio)
    }

    /// What is impossible about a number; nil if nothing is.
    static func problem(_ name: String, _ number: Double?) -> String? {
      guard let number, !(number >= 0) else { return nil }
      return "A retry budget cannot have `\(name): \(number)`. Pass a number that is 0 or more."
    }
  }

  /// The name of the budget in notices and snapshots; nil without a name.
  public let name: String?

  let state: Mutex<State>

  /// Creates a budget.
  ///
  /// A number that is negative or NaN is reported and counts as 0; a number above a billion counts as a billion.
  ///
  /// - Parameters:
  ///   - name: The name of the budget in notices and snapshots, without user data.
  ///   - ratio: The number of additional attempts for each run.
  ///   - minimumPerSecond: The number of additional attempts in each second that need no deposit. They accumulate for
  ///     ten seconds, which a new budget has already.
  public init(name: String? = nil, ratio: Double = 0.2, minimumPerSecond: Double = 10) {
    self.name = name
    self.state = Mutex(State(Numbers(ratio: ratio, minimumPerSecond: minimumPerSecond)))
  }

  /// The number of additional attempts for each run.
  public var ratio: Double { self.state.withLock { $0.numbers.ratio } }

  /// The number of additional attempts in each second that need no deposit.
  public var minimumPerSecond: Double { self.state.withLock { $0.numbers.minimumPerSecond } }
}

extension RetryBudget {
  /// Deposits for the run with this context, once for each run, however many modifiers of the run call this.
  ///
  /// Modifiers that withdraw call it before the first attempt, and pass the changed context to the attempts. In their
  /// setup they set ``OperationCore/OperationContext/operationDepositsIntoBudgets``.
  ///
  /// - Parameter context: The context of the run, which records that the run has deposited.
  public func deposit(for context: inout OperationContext) {
    _ = self.depositOnce(for: &context)
  }

  /// Withdraws 1 for an additional attempt.
  ///
  /// - Parameter context: The context of the run, whose ``/OperationCore/OperationContext/operationDeadlines`` provide
  ///   the time.
  /// - Returns: False if the budget does not allow the attempt; nothing is withdrawn then.
  public func withdraw(in context: OperationContext) -> Bool {
    self.withdrawal(in: context) != nil
  }

  /// Counts the additional attempts that the budget allows now.
  ///
  /// - Parameter context: A context whose ``/OperationCore/OperationContext/operationDeadlines`` provide the time.
  /// - Returns: The number of attempts. Nothing is withdrawn.
  public func available(in context: OperationContext) -> Int {
    self.change(in: context) { $0.available() }
  }

  /// Changes the state at the time of a context, which is read before: a source of deadlines is user code.
  func change<R: Sendable>(in context: OperationContext, _ body: (inout State) -> R) -> R {
    let elapsed = context.elapsed
    return self.state.withLock { state in
      state.now = max(state.now, elapsed)
      return body(&state)
    }
  }
}

// MARK: - Local rejections

extension RetryBudget {
  /// What an additional attempt has withdrawn, so that ``giveBack(_:in:)`` can return it.
  public struct Withdrawal: Sendable {
    enum Source: Sendable {
      case deposits
      case reserve
    }

    let source: Source

    /// How long the attempt waits until the budget covers it: zero unless
    /// ``RetryBudget/withdrawal(within:in:)`` was called with a longer time.
    public let wait: OperationDuration
  }

  /// Deposits for the run with this context, as ``deposit(for:)`` does, and says whether this call has deposited.
  ///
  /// - Parameter context: The context of the run, which records that the run has deposited.
  /// - Returns: False if another modifier of the run has deposited. If this is true and the operation does not begin, the
  ///   caller calls ``takeBackDeposit(in:)``.
  public func depositOnce(for context: inout OperationContext) -> Bool {
    guard context.markRun(self) else { return false }
    self.addDeposit(in: context)
    return true
  }

  /// Deposits for a run, without a record in its context.
  package func addDeposit(in context: OperationContext) {
    self.change(in: context) { state in
      state.runCount &+= 1
      state.deposits.add(state.numbers.share.numerator, at: state.now)
    }
  }

  /// Takes back the deposit of a run that was rejected before its operation began.
  ///
  /// Call it once for each deposit. If other runs have withdrawn the deposit meanwhile, the balance is below zero for ten
  /// seconds at most.
  ///
  /// - Parameter context: The context of the run, whose ``/OperationCore/OperationContext/operationDeadlines`` provide
  ///   the time.
  public func takeBackDeposit(in context: OperationContext) {
    self.change(in: context) { state in
      state.runCount &-= 1
      state.deposits.takeBack(state.numbers.share.numerator, at: state.now)
    }
  }

  /// Withdraws 1 for an additional attempt, as ``withdraw(in:)`` does, so that it can be given back.
  ///
  /// With a time to wait, it also withdraws what the minimum will bring within that time. The caller then waits for
  /// ``Withdrawal/wait`` before the attempt. Others that withdraw meanwhile come after it.
  ///
  /// - Parameters:
  ///   - longest: The longest time that the attempt waits for the budget.
  ///   - context: The context of the run, whose ``/OperationCore/OperationContext/operationDeadlines`` provide the time.
  /// - Returns: What was withdrawn; nil if the budget does not allow the attempt.
  public func withdrawal(within longest: OperationDuration = .zero, in context: OperationContext) -> Withdrawal? {
    self.change(in: context) { state in
      var withdrawal: Withdrawal?
      if state.deposits.take(state.numbers.share.denominator, at: state.now) {
        withdrawal = Withdrawal(source: .deposits, wait: .zero)
      } else if let wait = state.reserve.take(within: longest, at: state.now) {
        withdrawal = Withdrawal(source: .reserve, wait: wait)
      }
      if withdrawal == nil { state.refusalCount &+= 1 } else { state.withdrawalCount &+= 1 }
      return withdrawal
    }
  }

  /// Gives back what an attempt has withdrawn, because it was not made, or ended with a
  /// ``/OperationCore/LocalRejection`` before its operation began.
  ///
  /// - Parameters:
  ///   - withdrawal: What was withdrawn. Give it back once.
  ///   - context: The context of the run, whose ``/OperationCore/OperationContext/operationDeadlines`` provide the time.
  public func giveBack(_ withdrawal: Withdrawal, in context: OperationContext) {
    self.change(in: context) { state in
      state.withdrawalCount &-= 1
      switch withdrawal.source {
      case .deposits: state.deposits.add(state.numbers.share.denominator, at: state.now)
      case .reserve: state.reserve.giveBack(at: state.now)
      }
    }
  }
}

extension RetryBudget: CustomStringConvertible {
  /// The numbers of the budget.
  public var description: String {
    let numbers = self.state.withLock { $0.numbers }
    return "\(numbers.ratio) for each run, and \(numbers.minimumPerSecond) a second"
  }
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
