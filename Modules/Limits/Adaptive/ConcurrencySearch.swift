/// Finds the number of concurrent runs at which a service is busy and its runs do not wait for each other.
///
/// It compares the durations of runs at the current number with those at 60 % of it, which it admits for a moment now
/// and then. Where runs take as long with more of them, the service has capacity left, and the number grows. Where they
/// take longer, they wait for each other, and the number shrinks until they take `tolerance` times as long. Each
/// side counts by the geometric mean of its durations.
///
/// The rule comes from the gradient limiters in Netflix's
/// [concurrency-limits](https://github.com/Netflix/concurrency-limits) and Envoy's
/// [adaptive concurrency](https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/adaptive_concurrency_filter):
/// the limit is multiplied by the quotient of the duration without load and the current one. Unlike there, the duration
/// without load is measured again as soon as it is doubtful, and samples are as large as the durations vary.
struct ConcurrencySearch: Sendable {
  /// How precise a comparison is: the standard deviation of its result.
  private enum Precision {
    static let growing = 0.12
    static let steady = 0.07
  }

  private(set) var range: ClosedRange<Int>
  private(set) var tolerance: Double
  /// The share of the limit at which runs count as not waiting for each other.
  private var reduction: Double
  /// Why the limit has its value.
  private(set) var reason = AdaptiveLimitSnapshot.Reason.initial

  private var value: Double
  /// Whether the limit still doubles, because no overload has been seen.
  private var doubles = true
  /// How often the limit has grown since it last shrank.
  private var growths = 0
  /// When the measurement at the reduced number has to end; nil while the whole limit is admitted.
  private(set) var reductionEnd: Duration?
  /// Whether all permits were in use since the last comparison; otherwise more of them would not help.
  private var isExhausted = false

  /// The most runs that were under way since the last comparison, and between the two comparisons before.
  private var peak = 0
  private var previousPeak = 0

  private var lastID: UInt64 = 2
  /// The runs that begin at the reduced number or below it.
  private var low: LatencyCohort
  /// The runs that begin near the limit.
  private var high: LatencyCohort
  /// The deviation of the durations in the last cohort.
  private var deviation = 0.0
  /// The standard error of the last comparison with the base.
  private var uncertainty = 0.0

  /// The durations at the reduced number, as the mean of cohorts that agree, and the number of runs in that mean.
  private var base: LatencyCohort.Summary?
  private var baseWeight = 0.0
  /// Whether there was a comparison with the base.
  private var isBaseUsed = false
  /// The cohort to compare with the base that is being measured.
  private var pending: LatencyCohort.Summary?
  /// The runs since the last measurement at the reduced number, and how many generations of runs may follow it.
  private var runsSinceReduction = 0
  private var generations = Self.fewestGenerations
  /// The runs that have ended since a cohort was begun.
  private var runsSinceCohort = 0

  private static let fewestGenerations = 4
  private static let mostGenerations = 24

  init(range: ClosedRange<Int>, tolerance: Double) {
    self.range = range
    self.tolerance = tolerance
    // Half as many again as the tolerance needs: then a service that is fully loaded exceeds the tolerance clearly.
    self.reduction = Self.reduction(tolerance)
    self.value = Double(range.lowerBound)
    self.low = LatencyCohort(id: 1, size: Self.smallestCohort)
    self.high = LatencyCohort(id: 2, size: Self.smallestCohort)
  }

  private static func reduction(_ tolerance: Double) -> Double { min(0.6, 0.72 / tolerance) }

  /// The number of runs that may be under way at once.
  var limit: Int { Int(self.value.rounded()) }

  /// The number that is admitted at the moment: the limit, or a part of it while that is measured.
  // Inlined, as the two below, because a call copies the search, which takes 40 instructions more.
  @inline(__always)
  var admitted: Int { self.isReduced ? self.reducedLimit : self.limit }

  private var isReduced: Bool { self.reductionEnd != nil }

  /// Whether the runs that begin are those at the reduced number. At the minimum there is no lower one.
  @inline(__always)
  private var measuresBase: Bool { self.isReduced || self.reducedLimit >= self.limit }

  @inline(__always)
  private var reducedLimit: Int {
    // A part of the limit would reduce nothing where fewer runs are under way than that.
    let peak = max(self.peak, self.previousPeak)
    let most = peak > 0 ? min(self.value, Double(peak)) : self.value
    return max(self.range.lowerBound, Int(most * self.reduction))
  }
}

// MARK: - Runs

extension ConcurrencySearch {
  /// Counts a run that begins.
  ///
  /// - Parameter inUse: The number of runs that are under way, this one included.
  /// - Returns: The cohort of the run; 0 for none.
  mutating func begin(inUse: Int) -> UInt64 {
    if inUse >= self.limit { self.isExhausted = true }
    if self.measuresBase {
      guard inUse <= self.reducedLimit, self.low.add(concurrency: inUse) else { return 0 }
      return self.low.id
    }
    self.peak = max(self.peak, inUse)
    guard self.isHigh(inUse) else { return 0 }
    return self.high.add(concurrency: inUse) ? self.high.id : 0
  }

  /// Whether so many runs are under way that they may wait for each other.
  private func isHigh(_ inUse: Int) -> Bool {
    // Three quarters, so that load that varies is measured, too.
    if inUse * 4 >= self.limit * 3 { return true }
    // There may be fewer callers than the limit admits, and still too many for the service.
    guard let base, Double(inUse) >= 1.25 * base.concurrency else { return false }
    return inUse * 4 >= max(self.peak, self.previousPeak) * 3
  }

  /// Counts a run that has succeeded, which may change the limit.
  mutating func end(_ duration: Duration, of cohort: UInt64, at now: Duration) {
    self.runsSinceReduction += 1
    self.runsSinceCohort += 1
    if cohort == self.low.id {
      self.low.end(duration)
      self.endLowCohort()
    } else if cohort == self.high.id {
      self.high.end(duration)
      self.endHighCohort(at: now)
    }
    // Runs that do not end, such as long polls, must not keep a cohort from its end.
    if self.runsSinceCohort > 8 * (self.limit + max(self.low.size, self.high.size)) { self.startCohorts() }
  }

  /// Counts a run whose duration says nothing.
  mutating func abandon(_ cohort: UInt64) {
    if cohort == self.low.id { self.low.abandonRun() }
    if cohort == self.high.id { self.high.abandonRun() }
  }

  /// Shrinks the limit because of failures.
  mutating func shrink(by factor: Double) {
    self.doubles = false
    self.growths = 0
    let limit = Double(self.limit)
    self.reason = .failures
    self.value = max(min(limit * factor, limit - 1).rounded(.down), Double(self.range.lowerBound))
    self.endReduction()
    self.startCohorts()
  }

  /// Gives a measurement up that takes too long, because runs that do not end hold the permits.
  mutating func giveUpReduction() {
    self.endReduction()
    self.runsSinceReduction = 0
    self.generations = Self.mostGenerations
    self.startCohorts()
  }
}

// MARK: - Cohorts

extension ConcurrencySearch {
  private static let smallestCohort = 16
  private static let largestCohort = 256
  private static let largestGeneration = 1024

  /// The number of runs whose mean duration is precise enough, and at least one generation of concurrent runs: runs that
  /// begin together may wait in turns.
  private func cohortSize(concurrency: Int) -> Int {
    let ratio = self.deviation / (self.doubles ? Precision.growing : Precision.steady)
    // With few runs at once, many generations of them would take too long.
    let most = min(Double(Self.largestCohort), Double(12 * concurrency))
    let precise = Int(min(2 * ratio * ratio, most))
    return max(precise, Self.smallestCohort, min(concurrency, Self.largestGeneration))
  }

  private mutating func startLowCohort() {
    self.runsSinceCohort = 0
    self.lastID += 1
    self.low = LatencyCohort(id: self.lastID, size: self.cohortSize(concurrency: self.reducedLimit))
  }

  private mutating func startHighCohort() {
    self.runsSinceCohort = 0
    self.lastID += 1
    self.high = LatencyCohort(id: self.lastID, size: self.cohortSize(concurrency: self.limit))
    self.isExhausted = false
    (self.previousPeak, self.peak) = (self.peak, 0)
  }

  private mutating func startCohorts() {
    self.startLowCohort()
    self.startHighCohort()
  }

  /// Admits fewer runs until a cohort of them has ended.
  private mutating func reduce(
    comparing pending: LatencyCohort.Summary?,
    _ last: LatencyCohort.Summary,
    at now: Duration
  ) {
    self.pending = pending
    self.startLowCohort()
    // Four times as long as it should take: the runs that are under way end, then the cohort begins and ends.
    let generations = 2 + Double(self.low.size) / Double(self.reducedLimit)
    self.reductionEnd = now + .seconds(min(4 * last.mean * generations, 1e6)) + .milliseconds(10)
  }

  private mutating func endReduction() {
    self.reductionEnd = nil
    self.pending = nil
  }

  private mutating func endLowCohort() {
    guard self.low.isComplete else { return }
    let summary = self.low.summary()
    self.deviation = summary.deviation
    self.low.grow(to: self.cohortSize(concurrency: self.reducedLimit))
    guard self.low.isComplete else { return }
    self.setBase(summary)
    let pending = self.pending
    self.endReduction()
    if let pending, let base {
      self.uncertainty = self.uncertainty(of: pending)
      self.adapt(to: pending.mean / base.mean, at: pending.concurrency, wasExhausted: true)
    } else if self.reducedLimit >= self.limit {
      self.adapt(to: 1, at: summary.concurrency, wasExhausted: self.isExhausted)
    }
    self.startCohorts()
  }

  private mutating func setBase(_ summary: LatencyCohort.Summary) {
    self.isBaseUsed = false
    self.runsSinceReduction = 0
    guard let base, abs(base.mean - summary.mean) < 3 * base.error(with: summary) else {
      (self.base, self.baseWeight) = (summary, Double(summary.count))
      self.generations = Self.fewestGenerations
      // Not chance, but another service, or one that is overloaded at the reduced number, too.
      if self.pending != nil { self.doubles = false }
      return
    }
    // The mean of the latest runs, up to four cohorts of this size.
    self.baseWeight = min(self.baseWeight, 3 * Double(summary.count)) + Double(summary.count)
    self.base = summary
    self.base?.mean = base.mean + (summary.mean - base.mean) * Double(summary.count) / self.baseWeight
    self.generations = min(self.generations * 2, Self.mostGenerations)
  }

  private mutating func endHighCohort(at now: Duration) {
    guard self.high.isComplete else { return }
    let summary = self.high.summary()
    self.deviation = summary.deviation
    self.high.grow(to: self.cohortSize(concurrency: self.limit))
    guard self.high.isComplete else { return }
    // A base from nearly the same number is no comparison.
    guard let base, base.concurrency <= 0.8 * summary.concurrency else {
      return self.reduce(comparing: summary, summary, at: now)
    }
    let ratio = summary.mean / base.mean
    self.uncertainty = self.uncertainty(of: summary)
    // So large a change says that the service has changed, and not only its load. The first sign of overload may be
    // chance, because the first cohorts are small.
    let (longer, shorter) = (1.4 * self.allowed + 2 * self.uncertainty, 0.78 - self.uncertainty)
    if self.doubles && ratio >= self.bound || self.isBaseUsed && (ratio > longer || ratio < shorter) {
      return self.reduce(comparing: summary, summary, at: now)
    }
    self.isBaseUsed = true
    self.adapt(to: ratio, at: summary.concurrency, wasExhausted: self.isExhausted)
    let mostRuns = self.generations * (self.cohortSize(concurrency: self.limit) + self.limit)
    if self.runsSinceReduction > mostRuns, self.reducedLimit < self.limit {
      self.reduce(comparing: nil, summary, at: now)
    }
    self.startHighCohort()
  }
}

// MARK: - The limit

extension ConcurrencySearch {
  /// Adapts the limit to how many times longer runs take than at the reduced number.
  private mutating func adapt(to ratio: Double, at concurrency: Double, wasExhausted: Bool) {
    if ratio < self.bound {
      guard wasExhausted else { return }
      self.growths += 1
      self.reason = self.doubles ? .doubling : .growing
      self.set(self.value * self.growth(ratio))
      return
    }
    self.doubles = false
    self.growths = 0
    self.reason = .durations
    self.value = min(self.value, Double(max(self.peak, self.previousPeak, self.range.lowerBound)))
    if let base, concurrency > 1.5 * base.concurrency,
      ratio > 0.9 * concurrency / base.concurrency + 2 * self.uncertainty
    {
      // The runs beyond the reduced number have only waited.
      self.set(max(base.concurrency, self.value / 2))
    } else {
      let gradient = max(self.allowed / ratio, 0.5)
      self.set(self.value * (ratio > 1.5 ? gradient : gradient.squareRoot()))
    }
  }

  /// The ratio at which the limit shrinks. While it doubles, comparisons are less precise: of durations that vary much, chance
  /// would end the doubling after a few runs, and the limit would need long to come back.
  private var bound: Double { self.doubles ? 2 * self.tolerance - 1 + 2 * self.uncertainty : self.allowed }

  /// The tolerance for a geometric mean. Of durations that vary much it lies among the short ones, which the wait of a run
  /// that the tolerance allows makes longer by more.
  private var allowed: Double { self.tolerance + 1.5 * (self.tolerance - 1) * self.deviation * self.deviation }

  /// The standard error of the quotient of a cohort and the base.
  private func uncertainty(of summary: LatencyCohort.Summary) -> Double {
    guard let base else { return 0 }
    let variance = summary.deviation * summary.deviation / Double(summary.count)
    let sum = variance + base.deviation * base.deviation / max(self.baseWeight, 1)
    return LatencyCohort.Summary.spread * sum.squareRoot()
  }

  private func growth(_ ratio: Double) -> Double {
    if self.doubles { return 2 }
    let gradient = self.allowed / ratio
    // Faster where the limit has grown for a while: the service has become larger.
    return self.growths > 2 ? min(gradient * gradient, 1.4) : min(gradient, 1.3).squareRoot()
  }

  private mutating func set(_ value: Double) {
    self.value = min(max(value, Double(self.range.lowerBound)), Double(self.range.upperBound))
  }
}

// MARK: - Other settings

extension ConcurrencySearch {
  /// Changes the range, into which the limit moves at once, and the tolerance, for which it measures anew.
  mutating func update(range: ClosedRange<Int>, tolerance: Double?) {
    let hasOtherTolerance = tolerance.map { $0 != self.tolerance } ?? false
    guard range != self.range || hasOtherTolerance else { return }
    self.range = range
    if let tolerance, hasOtherTolerance {
      self.tolerance = tolerance
      self.reduction = Self.reduction(tolerance)
      (self.base, self.baseWeight) = (nil, 0)
    }
    let value = self.value
    self.set(value)
    if self.value != value { self.reason = .update }
    self.endReduction()
    self.startCohorts()
  }
}
