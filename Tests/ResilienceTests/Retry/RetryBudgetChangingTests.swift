import FoundationEssentials
import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationAttempts

@Suite(.bounded, .warningsAreIssues) struct RetryBudgetChangingTests {
  private let clock = ManualClock()

  private var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    return context
  }

  private func deposit(_ count: Int, into budget: RetryBudget) {
    for _ in 0..<count { budget.addDeposit(in: self.context) }
  }

  // MARK: - Local rejections

  @Test func `A deposit that is taken back pays for nothing`() {
    let budget = RetryBudget(ratio: 0.5, minimumPerSecond: 0)
    self.deposit(4, into: budget)
    budget.takeBackDeposit(in: self.context)
    budget.takeBackDeposit(in: self.context)
    expect(budget.available(in: self.context), equals: 1)
    expect(budget.snapshot(in: self.context).runs, equals: 2)
  }

  @Test func `A deposit that others have withdrawn before it is taken back is missing from the next ones`() {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    self.deposit(1, into: budget)
    #expect(budget.withdraw(in: self.context))
    budget.takeBackDeposit(in: self.context)
    expect(budget.available(in: self.context), equals: 0)
    self.deposit(1, into: budget)
    #expect(!budget.withdraw(in: self.context))
    self.deposit(1, into: budget)
    #expect(budget.withdraw(in: self.context))
  }

  @Test func `What is owed expires like a deposit`() {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    budget.takeBackDeposit(in: self.context)
    self.clock.advance(by: .seconds(10))
    self.deposit(1, into: budget)
    #expect(budget.withdraw(in: self.context))
  }

  @Test func `A withdrawal is given back to where it came from`() throws {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0.1)
    self.deposit(1, into: budget)
    let first = try #require(budget.withdrawal(in: self.context))
    let second = try #require(budget.withdrawal(in: self.context))
    #expect(first.source == .deposits && second.source == .reserve)
    budget.giveBack(second, in: self.context)
    expect(budget.available(in: self.context), equals: 1)
    budget.giveBack(first, in: self.context)
    expect(budget.available(in: self.context), equals: 2)
    // The reserve does not overflow.
    budget.giveBack(second, in: self.context)
    expect(budget.available(in: self.context), equals: 2)
    expect(budget.snapshot(in: self.context).withdrawals, equals: -1)
  }

  // MARK: - Changes

  @Test func `Deposits keep their value when the ratio changes`() {
    let budget = RetryBudget(ratio: 0.2, minimumPerSecond: 0)
    self.deposit(10, into: budget)
    budget.update(ratio: 1.0 / 3)
    expect(budget.ratio, equals: 1.0 / 3)
    expect(budget.available(in: self.context), equals: 2)
    self.deposit(3, into: budget)
    expect(budget.available(in: self.context), equals: 3)
    budget.update(ratio: 0)
    self.deposit(30, into: budget)
    expect(budget.available(in: self.context), equals: 3)
  }

  @Test func `The minimum changes at once, and is cut to ten seconds of the new one`() {
    let budget = RetryBudget(ratio: 0, minimumPerSecond: 10)
    budget.update(minimumPerSecond: 3)
    expect(budget.available(in: self.context), equals: 30)
    budget.update(minimumPerSecond: 100)
    expect(budget.available(in: self.context), equals: 30)
    self.clock.advance(by: .milliseconds(500))
    expect(budget.available(in: self.context), equals: 80)
    budget.update(minimumPerSecond: 0)
    expect(budget.available(in: self.context), equals: 0)
    budget.update(minimumPerSecond: 0.5)
    self.clock.advance(by: .seconds(2))
    expect(budget.available(in: self.context), equals: 1)
  }

  @Test(arguments: [-1, -Double.infinity, .nan])
  func `An impossible update is reported, and changes nothing`(number: Double) {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 1)
    expectWarning(.invalidArgument) { #expect(!budget.update(ratio: number, minimumPerSecond: 5)) }
    expectWarning(.invalidArgument) { #expect(!budget.update(ratio: 0.5, minimumPerSecond: number)) }
    #expect(budget.ratio == 1 && budget.minimumPerSecond == 1)
    #expect(budget.update(ratio: 0, minimumPerSecond: 0))
  }

  @Test func `Huge and tiny numbers do not overflow when they change`() {
    let budget = RetryBudget(ratio: .infinity, minimumPerSecond: .infinity)
    self.deposit(1_000, into: budget)
    for number in [0.000_000_1, 999_999_999.123_456, 0, 1.0 / 3, .infinity] {
      budget.update(ratio: number, minimumPerSecond: number)
      self.deposit(1_000, into: budget)
      self.clock.advance(by: .milliseconds(1))
      #expect(budget.available(in: self.context) >= 0)
    }
    expect(budget.ratio, equals: 1e9)
  }

  @Test func `A change is a notice with the numbers and the name`() {
    let notices = NoticeLog()
    var context = self.context
    context.operationNoticeObservers = [notices]
    let budget = RetryBudget(name: "posts")
    budget.update(ratio: 0.5, in: context)
    budget.update(ratio: 0.5, minimumPerSecond: 10, in: context)
    budget.update(minimumPerSecond: 1, in: context)
    expect(
      notices.descriptions,
      equals: [
        "retry.budget_changed budget.minimum=10.0 budget.name=posts budget.ratio=0.5 budget.ratio.previous=0.2",
        "retry.budget_changed budget.minimum=1.0 budget.minimum.previous=10.0 budget.name=posts budget.ratio=0.5",
      ]
    )
    #expect(budget.snapshot().gauges["budget.ratio"] == 0.5 && budget.snapshot().gauges["budget.minimum"] == 1)
  }

  // MARK: - Snapshot

  @Test func `A snapshot shows the numbers and what has become of the attempts`() throws {
    let budget = RetryBudget(name: "posts", ratio: 0.5, minimumPerSecond: 0.1)
    self.deposit(2, into: budget)
    #expect(
      budget.withdraw(in: self.context) && budget.withdraw(in: self.context) && !budget.withdraw(in: self.context)
    )
    let snapshot = budget.snapshot(in: self.context)
    expect(
      snapshot.description,
      equals: "posts: 0 left, of 0.5 for each run and 0.1 a second; 2 runs, 2 further attempts, 1 refused"
    )
    let keys = try JSONDecoder().decode([String: Value].self, from: JSONEncoder().encode(snapshot)).keys
    expect(
      keys.sorted(),
      equals: ["available", "minimumPerSecond", "name", "ratio", "refusals", "runs", "withdrawals"]
    )
    expect(RetryBudget().snapshot().name, equals: "retry budget")
  }

  private struct Value: Decodable {
    init(from decoder: any Decoder) {}
  }

  @Test func `A snapshot on another clock does not advance the time of the budget`() {
    let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
    self.deposit(1, into: budget)
    let other = ManualClock()
    other.advance(by: .seconds(100))
    var context = OperationContext()
    context.use(other)
    expect(budget.snapshot(in: context).available, equals: 0)
    expect(budget.available(in: self.context), equals: 1)
  }
}
