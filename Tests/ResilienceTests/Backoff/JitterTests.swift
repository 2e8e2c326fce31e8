import OperationBackoff
import OperationCore
import TestFixtures
import Testing

@Suite(.bounded) struct JitterTests {
  private let exponential = OperationBackoffFunction.exponential(.seconds(1))

  /// How many of the delays fall into each tenth of a range.
  private func tenths(_ delays: [Duration], of range: ClosedRange<Double>) -> [Int] {
    let width = (range.upperBound - range.lowerBound) / 10
    return delays.reduce(into: Array(repeating: 0, count: 10)) { counts, delay in
      counts[min(Int((delay / .seconds(1) - range.lowerBound) / width), 9)] += 1
    }
  }

  private func expectUniform(_ delays: [Duration], on range: ClosedRange<Double>) {
    let seconds = delays.map { $0 / .seconds(1) }
    #expect(seconds.allSatisfy(range.contains))
    let expected = Double(delays.count) / 10
    for count in self.tenths(delays, of: range) {
      // More than six standard deviations.
      #expect(abs(Double(count) - expected) < expected * 0.2)
    }
    #expect(Set(delays).count > delays.count * 99 / 100, "a value occurs too often")
  }

  @Test func `Full jitter is uniform between zero and the delay`() {
    self.expectUniform(self.exponential.jittered(using: SeededGenerator(seed: 1)).sample(3), on: 0...4)
    self.expectUniform(self.exponential.jittered(.full, using: SeededGenerator(seed: 2)).sample(4), on: 0...8)
    self.expectUniform(self.exponential.jittered().sample(3), on: 0...4)
  }

  @Test func `Equal jitter is uniform between half the delay and the delay`() {
    self.expectUniform(self.exponential.jittered(.equal, using: SeededGenerator(seed: 3)).sample(3), on: 2...4)
  }

  @Test func `Proportional jitter is uniform around the delay`() {
    let function = self.exponential.jittered(.proportional(0.25), using: SeededGenerator(seed: 4))
    self.expectUniform(function.sample(3), on: 3...5)
  }

  @Test(arguments: [true, false])
  func `The cap cuts the range before the draw, wherever it is written`(isCapFirst: Bool) {
    func function(_ jitter: OperationJitter, seed: UInt64) -> OperationBackoffFunction {
      isCapFirst
        ? self.exponential.capped(at: .seconds(5)).jittered(jitter, using: SeededGenerator(seed: seed))
        : self.exponential.jittered(jitter, using: SeededGenerator(seed: seed)).capped(at: .seconds(5))
    }
    self.expectUniform(function(.full, seed: 5).sample(20), on: 0...5)
    self.expectUniform(function(.equal, seed: 6).sample(20), on: 2.5...5)
    // At and below the cap, the part of the range above it is cut off.
    self.expectUniform(function(.proportional(0.5), seed: 7).sample(20), on: 2.5...5)
    self.expectUniform(function(.proportional(0.5), seed: 8).sample(3), on: 2...5)
  }

  @Test func `The same seed gives the same delays whichever comes first, cap or jitter`() {
    let capFirst = self.exponential.capped(at: .seconds(5)).jittered(using: SeededGenerator(seed: 9))
    let jitterFirst = self.exponential.jittered(using: SeededGenerator(seed: 9)).capped(at: .seconds(5))
    expect((1...50).map { capFirst($0) }, equals: (1...50).map { jitterFirst($0) })
  }

  @Test func `Delays do not pile up at the longest duration either`() {
    let function = self.exponential.jittered(.proportional(0.5), using: SeededGenerator(seed: 10))
    #expect(Set(function.sample(Int.max, count: 1_000)).count > 990)
  }

  @Test func `A proportion outside of 0 to 1 counts as the nearer of the two, and NaN as 0`() {
    let seeds = { SeededGenerator(seed: 11) }
    expect(OperationJitter.proportional(7), equals: .proportional(1))
    for fraction in [-1, -Double.infinity, .nan, 0] {
      let function = self.exponential.jittered(.proportional(fraction), using: seeds())
      expect((1...5).map { function($0) }, equals: (1...5).map { self.exponential($0) })
    }
    self.expectUniform(self.exponential.jittered(.proportional(.infinity), using: seeds()).sample(1), on: 0...2)
  }

  @Test func `Jitters apply one after the other`() {
    let full = self.exponential.jittered(using: SeededGenerator(seed: 12))
    let function = full.jittered(.equal, using: SeededGenerator(seed: 13))
    let delays = function.sample(3)
    #expect(abs(delays.mean - 1.5) < 0.1)
    #expect(delays.allSatisfy { $0 >= .zero && $0 <= .seconds(4) })
  }

  @Test func `Copies share their generator`() {
    let function = self.exponential.jittered(using: SeededGenerator(seed: 14))
    let copy = function
    #expect(function(5) != copy(5))
  }

  @Test func `Many tasks can draw at once`() async {
    let function = self.exponential.jittered(using: SeededGenerator(seed: 15))
    let delays = await withTaskGroup(of: [Duration].self) { group in
      for _ in 0..<8 { group.addTask { function.sample(3, count: 1_250) } }
      return await group.reduce(into: []) { $0 += $1 }
    }
    self.expectUniform(delays, on: 0...4)
  }
}
