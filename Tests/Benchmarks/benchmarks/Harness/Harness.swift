internal import Synchronization

/// Measures in many short samples, each between two samples of the baseline, so that what else the machine does shows in
/// both and cancels out in the ratio.
final class Harness: Sendable {
  struct Effort: Sendable {
    /// How long a chunk takes, about.
    var chunk: Duration
    /// How long the samples of one measure may take together.
    var budget: Duration
    var sampleCounts: ClosedRange<Int>

    static let full = Effort(chunk: .milliseconds(2), budget: .milliseconds(2500), sampleCounts: 21...151)
    static let short = Effort(chunk: .microseconds(700), budget: .milliseconds(200), sampleCounts: 7...25)
  }

  let effort: Effort
  let isShort: Bool
  /// What is to go wrong.
  let sabotage: Sabotage?
  private let baselineCount: Int
  private let baselines = Mutex<[Double]>([])

  init(isShort: Bool, sabotage: Sabotage?) async throws {
    self.effort = isShort ? .short : .full
    self.isShort = isShort
    self.sabotage = sabotage
    self.baselineCount = try await Self.count(of: .baseline, for: self.effort.chunk / 2)
    for _ in 0..<self.effort.sampleCounts.lowerBound {
      let sample = try await self.nanoseconds(of: .baseline, count: self.baselineCount)
      self.baselines.withLock { $0.append(sample) }
    }
  }

  /// Nanoseconds of 1 A, over all samples so far.
  var baseline: Distribution { Distribution(of: self.baselines.withLock { $0 }) }
}

/// What came out for one measure.
struct Timing: Sendable {
  /// A for each time.
  var cost: Distribution
  /// Allocations for each time; nil where they cannot be counted.
  var allocations: Double?
}

extension Harness {
  /// What doing it once costs.
  func time(_ measure: Measure) async throws -> Timing {
    let samples = try await self.samples(of: [measure])
    return Timing(
      cost: Distribution(of: samples.map { $0[0] }),
      allocations: try await self.allocations(of: measure)
    )
  }

  /// What the second costs more than the first, taken in the same samples, as a share.
  func difference(
    from first: Measure,
    to second: Measure,
    over parts: Int = 1
  ) async throws -> (first: Timing, second: Timing, difference: Timing) {
    let samples = try await self.samples(of: [first, second])
    let (fewer, more) = (try await self.allocations(of: first), try await self.allocations(of: second))
    let difference = samples.map { ($0[1] - $0[0]) / Double(parts) }
    return (
      Timing(cost: Distribution(of: samples.map { $0[0] }), allocations: fewer),
      Timing(cost: Distribution(of: samples.map { $0[1] }), allocations: more),
      Timing(
        cost: Distribution(of: difference),
        allocations: fewer.flatMap { fewer in more.map { ($0 - fewer) / Double(parts) } }
      )
    )
  }
}

// MARK: - Samples

extension Harness {
  /// The costs of the measures in A, sample by sample.
  private func samples(of measures: [Measure]) async throws -> [[Double]] {
    var counts: [Int] = []
    for measure in measures { counts.append(try await self.count(of: measure, for: self.effort.chunk)) }
    var samples: [[Double]] = []
    let end = ContinuousClock.now + self.effort.budget
    while samples.count < self.effort.sampleCounts.lowerBound
      || (samples.count < self.effort.sampleCounts.upperBound && ContinuousClock.now < end)
    {
      let before = try await self.nanoseconds(of: .baseline, count: self.baselineCount)
      var costs: [Double] = []
      for (measure, count) in zip(measures, counts) {
        costs.append(try await self.nanoseconds(of: measure, count: count))
      }
      let after = try await self.nanoseconds(of: .baseline, count: self.baselineCount)
      self.baselines.withLock { $0 += [before, after] }
      samples.append(costs.map { $0 / ((before + after) / 2) })
    }
    return samples
  }

  /// Allocations for each time, when nothing has to be made ready any more.
  private func allocations(of measure: Measure) async throws -> Double? {
    guard Allocated.isCountable else { return nil }
    let count = measure.count ?? 1000
    var stopwatch = Stopwatch(.allocations)
    try await measure.chunk(count, &stopwatch)
    return Double(stopwatch.allocated.count) / Double(count)
  }

  /// Nanoseconds for each time.
  func nanoseconds(of measure: Measure, count: Int) async throws -> Double {
    try await Self.nanoseconds(of: measure, count: count)
  }

  /// How often to do it for a chunk of that length.
  func count(of measure: Measure, for length: Duration) async throws -> Int {
    try await Self.count(of: measure, for: length)
  }

  private static func nanoseconds(of measure: Measure, count: Int) async throws -> Double {
    var stopwatch = Stopwatch(.time)
    try await measure.chunk(count, &stopwatch)
    return stopwatch.elapsed / .nanoseconds(1) / Double(count)
  }

  private static func count(of measure: Measure, for length: Duration) async throws -> Int {
    if let count = measure.count {
      // Once for nothing, so that what is made on the first use does not count.
      _ = try await self.nanoseconds(of: measure, count: count)
      return count
    }
    let nanoseconds = length / .nanoseconds(1)
    var count = 1
    while true {
      let each = try await self.nanoseconds(of: measure, count: count)
      // Judged by a chunk that is long enough itself: a few times say little, and the first ones are slow.
      if each * Double(count) >= nanoseconds / 4 { return max(1, Int(nanoseconds / each)) }
      count *= 2
    }
  }
}
