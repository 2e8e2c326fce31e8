internal import Counters
internal import Synchronization

/// Measures in many short samples, each between two samples of the baseline. Other work of the machine slows both down,
/// and so cancels out in the ratio.
final class Harness: Sendable {
  struct Effort: Sendable {
    /// The approximate duration of a chunk.
    var chunk: Duration
    /// The maximum duration of all samples of one measure.
    var budget: Duration
    var sampleCounts: ClosedRange<Int>

    static let full = Effort(chunk: .milliseconds(2), budget: .milliseconds(1500), sampleCounts: 21...151)
    static let short = Effort(chunk: .microseconds(700), budget: .milliseconds(200), sampleCounts: 7...25)
  }

  let effort: Effort
  let isShort: Bool
  /// The defect that the checks have to find.
  let sabotage: Sabotage?
  private let baselineCount: Int
  private let baselines = Mutex<[Double]>([])

  init(isShort: Bool, sabotage: Sabotage?) async throws {
    self.effort = isShort ? .short : .full
    self.isShort = isShort
    self.sabotage = sabotage
    self.baselineCount = try await Self.count(of: .baseline, for: self.effort.chunk / 2)
    for _ in 0..<self.effort.sampleCounts.lowerBound { _ = try await self.nanosecondsOfBaseline() }
  }

  /// The nanoseconds of 1 A in all samples so far.
  var baseline: Distribution { Distribution(of: self.baselines.withLock { $0 }) }
}

/// The result of one measure.
struct Timing: Sendable {
  /// The cost of one repetition, in A.
  var cost: Distribution
  /// The nanoseconds of one repetition in the fastest sample.
  var fastest: Double
  /// The allocations of one repetition; nil if they cannot be counted.
  var allocations: Double?
}

extension Harness {
  /// Returns the cost of one repetition.
  func time(_ measure: Measure) async throws -> Timing {
    try await self.times(of: [measure])[0]
  }

  /// Returns the costs of several measures, which are measured in turn, so that they can be compared.
  func times(of measures: [Measure]) async throws -> [Timing] {
    let samples = try await self.samples(of: measures)
    var timings: [Timing] = []
    for (index, measure) in measures.enumerated() {
      timings.append(
        Timing(
          cost: Distribution(of: samples.costs.map { $0[index] }),
          fastest: samples.fastest[index],
          allocations: try await self.allocations(of: measure)
        )
      )
    }
    return timings
  }

  /// Returns the cost of the second measure less that of the first, divided by `parts`.
  func difference(
    from first: Measure,
    to second: Measure,
    over parts: Int = 1
  ) async throws -> (first: Timing, second: Timing, difference: Timing) {
    let samples = try await self.samples(of: [first, second])
    let (fewer, more) = (try await self.allocations(of: first), try await self.allocations(of: second))
    let fastest = samples.fastest
    let difference = samples.costs.map { ($0[1] - $0[0]) / Double(parts) }
    return (
      Timing(cost: Distribution(of: samples.costs.map { $0[0] }), fastest: fastest[0], allocations: fewer),
      Timing(cost: Distribution(of: samples.costs.map { $0[1] }), fastest: fastest[1], allocations: more),
      Timing(
        cost: Distribution(of: difference),
        fastest: (fastest[1] - fastest[0]) / Double(parts),
        allocations: fewer.flatMap { fewer in more.map { ($0 - fewer) / Double(parts) } }
      )
    )
  }
}

// MARK: - Samples

extension Harness {
  /// Returns the costs of the measures in A, sample by sample, and the nanoseconds of the fastest sample of each.
  ///
  /// Samples that the machine disturbed are left out, unless there are hardly any others.
  private func samples(of measures: [Measure]) async throws -> (costs: [[Double]], fastest: [Double]) {
    var counts: [Int] = []
    for measure in measures { counts.append(try await self.count(of: measure, for: self.effort.chunk)) }
    var fastest = measures.map { _ in Double.infinity }
    var steady: [[Double]] = []
    var disturbed: [[Double]] = []
    let begin = ContinuousClock.now
    let budget = self.effort.budget * measures.count
    while true {
      let (wanted, elapsed) = (self.effort.sampleCounts, begin.duration(to: .now))
      if steady.count >= (elapsed < budget ? wanted.upperBound : wanted.lowerBound) { return (steady, fastest) }
      // Continues until there are a few steady samples, but not forever.
      if elapsed > budget * 2, steady.count + disturbed.count >= wanted.lowerBound {
        return (steady.count >= wanted.lowerBound / 2 ? steady : steady + disturbed, fastest)
      }
      let sample = try await self.sample(of: zip(measures, counts), fastest: &fastest)
      if sample.isSteady { steady.append(sample.costs) } else { disturbed.append(sample.costs) }
    }
  }

  /// Measures each between two samples of the baseline. A sample is steady if it was not interrupted and the baseline
  /// was as fast as it can be: on a core that other work shares, some measures slow down more than others.
  private func sample(
    of measures: some Sequence<(Measure, Int)>,
    fastest: inout [Double]
  ) async throws -> (costs: [Double], isSteady: Bool) {
    var costs: [Double] = []
    var isSteady = true
    let preemptions = preemption_count()
    var before = try await self.nanosecondsOfBaseline()
    for (measure, count) in measures {
      let cost = try await self.nanoseconds(of: measure, count: count)
      let after = try await self.nanosecondsOfBaseline()
      fastest[costs.count] = min(fastest[costs.count], cost)
      costs.append(cost / ((before + after) / 2))
      if max(before, after) > 1.2 * self.fastestBaseline { isSteady = false }
      before = after
    }
    return (costs, isSteady && preemption_count() == preemptions)
  }

  private func nanosecondsOfBaseline() async throws -> Double {
    let sample = try await self.nanoseconds(of: .baseline, count: self.baselineCount)
    self.baselines.withLock { $0.append(sample) }
    return sample
  }

  private var fastestBaseline: Double { self.baselines.withLock { $0.min() ?? .infinity } }

  /// Returns the allocations of one repetition, without those of the first use.
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

  /// Returns the number of repetitions in a chunk of that length.
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
      // Run once before, so that the first use does not count.
      _ = try await self.nanoseconds(of: measure, count: count)
      return count
    }
    let nanoseconds = length / .nanoseconds(1)
    var count = 1
    while true {
      // The fastest of a few: an interrupted one would make the chunks far too short.
      var each = Double.infinity
      for _ in 0..<5 where each * Double(count) >= nanoseconds / 4 {
        each = min(each, try await self.nanoseconds(of: measure, count: count))
      }
      // Computed from a chunk that is long enough itself: the first few repetitions are slow.
      if each * Double(count) >= nanoseconds / 4 { return max(1, Int(nanoseconds / each)) }
      count *= 2
    }
  }
}
