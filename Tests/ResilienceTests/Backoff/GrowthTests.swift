import OperationBackoff
import OperationCore
import TestFixtures
import Testing

@Suite(.bounded) struct GrowthTests {
  private func seconds(_ function: OperationBackoffFunction, _ attempts: ClosedRange<Int> = 1...7) -> [Double] {
    attempts.map { function($0) / .seconds(1) }
  }

  @Test func `A custom function needs no description`() {
    let backoff = OperationBackoffFunction { .seconds($0) }
    expect(backoff(3), equals: .seconds(3))
    expect(backoff.description, equals: "Custom")
  }

  @Test func `The first retry waits for the duration given`() {
    expect(self.seconds(.noBackoff), equals: [0, 0, 0, 0, 0, 0, 0])
    expect(self.seconds(.constant(.seconds(3))), equals: [3, 3, 3, 3, 3, 3, 3])
    expect(self.seconds(.seconds(1.5)), equals: [1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5])
    expect(self.seconds(.milliseconds(250)), equals: self.seconds(.constant(.seconds(0.25))))
    expect(self.seconds(.linear(.seconds(2))), equals: [2, 4, 6, 8, 10, 12, 14])
    expect(self.seconds(.exponential(.seconds(1))), equals: [1, 2, 4, 8, 16, 32, 64])
    expect(self.seconds(.fibonacci(.seconds(1))), equals: [1, 1, 2, 3, 5, 8, 13])
  }

  @Test func `An attempt before the first retry does not wait where delays grow`() {
    for attempt in [0, -1, Int.min] {
      expect(OperationBackoffFunction.linear(.seconds(1))(attempt), equals: .zero)
      expect(OperationBackoffFunction.exponential(.seconds(1))(attempt), equals: .zero)
      expect(OperationBackoffFunction.fibonacci(.seconds(1))(attempt), equals: .zero)
    }
  }

  @Test(arguments: oddDurations)
  func `Every attempt has a delay whose components can be read`(duration: Duration) {
    for growth in growths(duration) {
      for function in [growth, growth.capped(at: duration)] + jitters(growth) + jitters(growth.capped(at: .seconds(1)))
      {
        for attempt in oddAttempts {
          let delay = function(attempt)
          #expect(delay >= .zero && delay <= longest, "\(function) at \(attempt)")
          #expect(delay.components.seconds >= 0)
        }
      }
    }
  }

  @Test(arguments: oddDurations)
  func `Delays never get shorter`(duration: Duration) {
    for growth in growths(duration) {
      for function in [growth, growth.capped(at: .seconds(30))] {
        let delays = ((-2...300) + [1_000_000, Int.max]).map { function($0) }
        #expect(zip(delays, delays.dropFirst()).allSatisfy { $0 <= $1 }, "\(function)")
      }
    }
  }

  @Test func `A delay that grows past the longest duration stays there`() {
    for growth in growths(Duration(attoseconds: 1)).dropFirst(3) {
      expect(growth(Int.max), equals: longest)
    }
    expect(OperationBackoffFunction.linear(.seconds(1))(Int.max), equals: .seconds(Int64(Int.max)))
    expect(OperationBackoffFunction.linear(.seconds(2))(Int.max), equals: longest)
    expect(OperationBackoffFunction.constant(Duration(attoseconds: .max))(1), equals: longest)
  }

  @Test func `Growth is exact to the attosecond`() {
    let duration = Duration(attoseconds: 1_000_000_000_000_000_003)
    expect(OperationBackoffFunction.exponential(duration)(11), equals: duration * 1_024)
    expect(OperationBackoffFunction.fibonacci(duration)(20), equals: duration * 6_765)
    expect(OperationBackoffFunction.linear(duration)(12_345), equals: duration * 12_345)
  }

  @Test func `A cap limits longer delays, and the smallest cap applies`() {
    let function = OperationBackoffFunction.exponential(.seconds(1)).capped(at: .seconds(5))
    expect(self.seconds(function), equals: [1, 2, 4, 5, 5, 5, 5])
    expect(self.seconds(function.capped(at: .seconds(3))), equals: [1, 2, 3, 3, 3, 3, 3])
    expect(self.seconds(function.capped(at: .seconds(9))), equals: [1, 2, 4, 5, 5, 5, 5])
    expect(self.seconds(function.capped(at: .seconds(-9))), equals: [0, 0, 0, 0, 0, 0, 0])
  }

  @Test func `A custom function receives the attempt, and its negative delays count as zero`() {
    let function = OperationBackoffFunction("Mine") { .seconds($0 - 3) }
    expect(self.seconds(function), equals: [0, 0, 0, 1, 2, 3, 4])
    expect(function(Int.min + 3), equals: .zero)
    expect(self.seconds(function.capped(at: .seconds(2))), equals: [0, 0, 0, 1, 2, 2, 2])
  }

  @Test func `Functions describe themselves`() {
    expect("\(OperationBackoffFunction("Mine") { _ in .zero })", equals: "Mine")
    expect("\(OperationBackoffFunction.noBackoff)", equals: "No backoff")
    expect("\(OperationBackoffFunction.constant(.seconds(2)))", equals: "Constant 2.0 seconds")
    let function = OperationBackoffFunction.exponential(.seconds(1)).jittered().capped(at: .seconds(9))
    expect("\(function)", equals: "Exponential from 1.0 seconds, at most 9.0 seconds, with full jitter")
    let decorrelated = OperationBackoffFunction.decorrelated(base: .seconds(1), cap: .seconds(9))
    expect("\(decorrelated)", equals: "Decorrelated from 1.0 seconds, at most 9.0 seconds")
    for duration in oddDurations {
      for function in growths(duration) { #expect(!"\(function)".isEmpty) }
    }
  }
}
