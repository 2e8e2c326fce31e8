import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationAttempts

@Suite(.bounded, .warningsAreIssues) struct RetryBudgetTests {
  private let clock = ManualClock()
  private let context: OperationContext

  init() {
    var context = OperationContext()
    context.use(self.clock)
    self.context = context
  }

  /// Deposits for runs of their own.
  private func deposit(_ count: Int, into budget: RetryBudget) {
    for _ in 0..<count {
      var context = self.context
      budget.deposit(for: &context)
    }
  }

  /// Withdraws until the budget refuses, and returns how often it did not.
  private func withdrawAll(from budget: RetryBudget) -> Int {
    var count = 0
    while count < 100_000, budget.withdraw(in: self.context) { count += 1 }
    return count
  }

  @Test(
    arguments: [
      (0.6, 5, 3), (0.6, 4, 2), (0.6, 1000, 600), (0.2, 5, 1), (0.2, 4, 0), (0.1, 10, 1), (0.1, 99, 9), (0.7, 10, 7),
      (1.0 / 3, 3, 1), (1.0 / 3, 3000, 1000), (0.3, 10, 3), (1.1, 10, 11), (2.5, 2, 5), (0.29, 100, 29), (0, 1000, 0),
    ] as [(Double, Int, Int)]
  )
  func `The share of additional attempts is exact`(ratio: Double, runs: Int, attempts: Int) {
    let budget = RetryBudget(ratio: ratio, minimumPerSecond: 0)
    self.deposit(runs, into: budget)
    expect(budget.available(in: self.context), equals: attempts)
    expect(self.withdrawAll(from: budget), equals: attempts)
    expect(budget.available(in: self.context), equals: 0)
  }

  @Test func `The share is exact when runs and withdrawals alternate`() {
    let budget = RetryBudget(ratio: 0.6, minimumPerSecond: 0)
    var withdrawn = 0
    for run in 1...5000 {
      self.deposit(1, into: budget)
      while budget.withdraw(in: self.context) { withdrawn += 1 }
      expect(withdrawn, equals: run * 3 / 5)
    }
  }

  @Test func `The minimum needs no deposit, returns with time, and accumulates for ten seconds`() {
    let budget = RetryBudget(ratio: 0, minimumPerSecond: 10)
    expect(self.withdrawAll(from: budget), equals: 100)
    self.clock.advance(by: .milliseconds(99))
    #expect(!budget.withdraw(in: self.context))
    self.clock.advance(by: .milliseconds(1))
    expect(self.withdrawAll(from: budget), equals: 1)
    self.clock.advance(by: .milliseconds(500))
    expect(self.withdrawAll(from: budget), equals: 5)
    self.clock.advance(by: .seconds(9))
    expect(self.withdrawAll(from: budget), equals: 90)
    self.clock.advance(by: .seconds(3600))
    expect(self.withdrawAll(from: budget), equals: 100)
  }

  @Test(arguments: [0.8, 1.0 / 3, 0.1, 8])
  func `The minimum is exact over an hour`(rate: Double) {
    let budget = RetryBudget(ratio: 0, minimumPerSecond: rate)
    var count = self.withdrawAll(from: budget)
    let initial = max(1, Int(rate * 10))
    expect(count, equals: initial)
    for _ in 0..<(3600 * 8) {
      self.clock.advance(by: .milliseconds(125))
      count += self.withdrawAll(from: budget)
    }
    expect(count, equals: initial + Int((rate * 3600).rounded()))
  }

  @Test func `An attempt may wait for the minimum, and those that come later wait longer`() throws {
    let budget = RetryBudget(ratio: 0, minimumPerSecond: 10)
    try expect(#require(budget.withdrawal(within: .seconds(1), in: self.context)).wait, equals: .zero)
    expect(self.withdrawAll(from: budget), equals: 99)
    #expect(budget.withdrawal(within: .milliseconds(99), in: self.context) == nil)
    let first = try #require(budget.withdrawal(within: .milliseconds(100), in: self.context))
    let second = try #require(budget.withdrawal(within: .seconds(1), in: self.context))
    #expect((first.wait, second.wait) == (.milliseconds(100), .milliseconds(200)))
    #expect(budget.withdrawal(within: .milliseconds(299), in: self.context) == nil)
    expect(budget.available(in: self.context), equals: 0)
    self.clock.advance(by: .milliseconds(100))
    #expect(budget.available(in: self.context) == 0 && !budget.withdraw(in: self.context))
    // What was not used is there for the next.
    budget.giveBack(second, in: self.context)
    try expect(#require(budget.withdrawal(within: .seconds(1), in: self.context)).wait, equals: .milliseconds(100))
    self.clock.advance(by: .milliseconds(200))
    expect(self.withdrawAll(from: budget), equals: 1)
    #expect(RetryBudget(ratio: 0, minimumPerSecond: 0).withdrawal(within: .seconds(9), in: self.context) == nil)
  }

  @Test func `A deposit of another run pays at once, while an attempt waits for the minimum`() throws {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0.1)
    expect(self.withdrawAll(from: budget), equals: 1)
    try expect(#require(budget.withdrawal(within: .seconds(10), in: self.context)).wait, equals: .seconds(10))
    self.deposit(1, into: budget)
    try expect(#require(budget.withdrawal(within: .seconds(10), in: self.context)).wait, equals: .zero)
  }

  @Test func `The minimum is added to the share`() {
    let budget = RetryBudget(ratio: 0.2, minimumPerSecond: 10)
    self.deposit(100, into: budget)
    expect(budget.available(in: self.context), equals: 120)
    expect(self.withdrawAll(from: budget), equals: 120)
  }

  @Test func `A deposit expires after ten seconds`() {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    self.deposit(3, into: budget)
    self.clock.advance(by: .seconds(5))
    self.deposit(2, into: budget)
    self.clock.advance(by: .milliseconds(4999))
    expect(budget.available(in: self.context), equals: 5)
    // The oldest are withdrawn first.
    #expect(budget.withdraw(in: self.context))
    self.clock.advance(by: .milliseconds(1))
    expect(budget.available(in: self.context), equals: 2)
    self.clock.advance(by: .seconds(5))
    expect(budget.available(in: self.context), equals: 0)
  }

  @Test func `A long pause empties all slices`() {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    for _ in 0..<10 {
      self.deposit(1, into: budget)
      self.clock.advance(by: .seconds(1))
    }
    expect(budget.available(in: self.context), equals: 9)
    self.clock.advance(by: .seconds(Int64.max / 4))
    expect(budget.available(in: self.context), equals: 0)
    self.deposit(2, into: budget)
    expect(self.withdrawAll(from: budget), equals: 2)
  }

  @Test func `A run deposits once, whatever attempts and modifiers it has`() {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    let other = RetryBudget(ratio: 1, minimumPerSecond: 0)
    var context = self.context
    budget.deposit(for: &context)
    budget.deposit(for: &context)
    context.beginNextAttempt(after: CancellationError())
    budget.deposit(for: &context)
    other.deposit(for: &context)
    expect(budget.available(in: self.context), equals: 1)
    expect(other.available(in: self.context), equals: 1)
    expect(context.operationAttempt, equals: 2)
  }

  @Test func `Contexts with other clocks do not set the time of a budget back`() {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 1)
    self.clock.advance(by: .seconds(100))
    expect(self.withdrawAll(from: budget), equals: 10)
    var early = OperationContext()
    early.use(ManualClock())
    #expect(!budget.withdraw(in: early))
    budget.deposit(for: &early)
    expect(budget.available(in: self.context), equals: 1)
  }

  @Test(arguments: [-1, -Double.infinity, .nan])
  func `A number without a meaning is reported and counts as zero`(number: Double) {
    let budget = expectWarning(.invalidArgument) { RetryBudget(ratio: number, minimumPerSecond: 0) }
    expect(budget.ratio, equals: 0)
    let other = expectWarning(.invalidArgument) { RetryBudget(ratio: 0, minimumPerSecond: number) }
    expect(other.minimumPerSecond, equals: 0)
    self.deposit(10, into: budget)
    expect(self.withdrawAll(from: budget), equals: 0)
    expect(self.withdrawAll(from: other), equals: 0)
  }

  @Test func `Huge numbers saturate`() {
    let budget = RetryBudget(ratio: .infinity, minimumPerSecond: .greatestFiniteMagnitude)
    #expect(budget.ratio == 1e9 && budget.minimumPerSecond == 1e9)
    self.deposit(10, into: budget)
    self.clock.advance(by: .seconds(Int64.max))
    expect(budget.available(in: self.context), equals: 10_000_000_000)
    #expect(budget.withdraw(in: self.context))
    let odd = RetryBudget(ratio: 999_999_999.123456, minimumPerSecond: 0.000_000_001)
    self.deposit(100_000, into: odd)
    #expect(odd.available(in: self.context) >= 99_999_999_912_345)
  }

  @Test func `Threads share a budget, and nothing is withdrawn twice`() async {
    let budget = RetryBudget(ratio: 0.6, minimumPerSecond: 0)
    let context = self.context
    let withdrawn = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          (0..<1000).reduce(0) { count, _ in
            var context = context
            budget.deposit(for: &context)
            return budget.withdraw(in: context) ? count + 1 : count
          }
        }
      }
      return await group.reduce(0, +)
    }
    expect(withdrawn + budget.available(in: context), equals: 4800)
  }

  @Test func `A fraction is the simplest one of its value`() {
    for (value, text) in [
      (0.6, "3/5"), (1.0 / 3, "1/3"), (0.2, "1/5"), (0, "0/1"), (7, "7/1"), (0.125, "1/8"), (1.1, "11/10"),
      (2.0 / 7, "2/7"), (1e9, "1000000000/1"), (0.000_000_001, "0/1"), (0.999_999, "999999/1000000"),
    ] {
      let fraction = Fraction(value)
      expect("\(fraction.numerator)/\(fraction.denominator)", equals: text)
    }
  }
}
