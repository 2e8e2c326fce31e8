import OperationBackoff
import OperationCore
import TestFixtures
import Testing

@Suite(.bounded) struct DecorrelatedTests {
  private func function(base: Duration, cap: Duration, seed: UInt64 = 1) -> OperationBackoffFunction {
    .decorrelated(base: base, cap: cap, using: SeededGenerator(seed: seed))
  }

  @Test func `The first delay is uniform between the base and three times the base`() {
    let delays = self.function(base: .seconds(1), cap: .seconds(60)).sample(1)
    #expect(delays.allSatisfy { $0 >= .seconds(1) && $0 <= .seconds(3) })
    #expect(abs(delays.mean - 2) < 0.05)
    #expect(Set(delays).count > 9_900)
  }

  @Test func `Each call draws its own chain`() {
    // The mean of link n + 1 is (base + 3 × that of link n) / 2, from 1 s: 2, 3.5, 5.75.
    let function = self.function(base: .seconds(1), cap: .seconds(1_000))
    #expect(abs(function.sample(2).mean - 3.5) < 0.1)
    #expect(abs(function.sample(3).mean - 5.75) < 0.2)
    #expect(abs(function.sample(1).mean - 2) < 0.05)
  }

  @Test func `Delays grow up to the cap and do not pile up there`() {
    let delays = self.function(base: .seconds(1), cap: .seconds(10)).sample(50)
    #expect(delays.allSatisfy { $0 >= .seconds(1) && $0 <= .seconds(10) })
    #expect(Set(delays).count > 9_900)
    #expect(!delays.contains(.seconds(10)))
    #expect(delays.mean > 4)
  }

  @Test func `Of two caps the smaller applies, also before the draw`() {
    let function = self.function(base: .seconds(1), cap: .seconds(60)).capped(at: .seconds(4))
    let delays = function.sample(50)
    #expect(delays.allSatisfy { $0 >= .seconds(1) && $0 <= .seconds(4) })
    #expect(Set(delays).count > 9_900)
    #expect(function.capped(at: .seconds(90)).sample(50).allSatisfy { $0 <= .seconds(4) })
  }

  @Test func `Where the cap leaves no room above the base, delays are drawn between zero and the cap`() {
    for cap in [Duration.seconds(1), .milliseconds(500)] {
      let delays = self.function(base: .seconds(1), cap: cap).sample(3)
      #expect(delays.allSatisfy { $0 >= .zero && $0 <= cap })
      #expect(abs(delays.mean - cap / .seconds(2)) < 0.02)
      #expect(Set(delays).count > 9_900)
    }
  }

  @Test(arguments: oddDurations, oddDurations)
  func `Every attempt has a delay`(base: Duration, cap: Duration) {
    for function in [self.function(base: base, cap: cap), .decorrelated(base: base, cap: cap)] {
      for attempt in oddAttempts {
        let delay = function(attempt)
        #expect(delay >= .zero && delay <= max(cap, .zero) && delay <= longest)
        if attempt < 1 { expect(delay, equals: .zero) }
      }
    }
  }

  @Test func `Another jitter spreads what was drawn`() {
    let function = self.function(base: .seconds(1), cap: .seconds(60)).jittered(using: SeededGenerator(seed: 2))
    let delays = function.sample(1)
    #expect(abs(delays.mean - 1) < 0.05)
    #expect(delays.contains { $0 < .seconds(1) })
  }
}
