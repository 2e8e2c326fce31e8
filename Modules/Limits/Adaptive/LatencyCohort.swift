internal import OperationCore
internal import OperationPlatform

/// The durations of runs that began one after the other while a certain number was under way.
///
/// The runs are chosen when they begin, and the cohort is complete when 85 % of them have ended. Runs chosen when they
/// end would be too short: of many that are under way, the shortest end first.
struct LatencyCohort: Sendable {
  /// The durations of a complete cohort.
  struct Summary: Sendable {
    /// The geometric mean of the durations in seconds, without the shortest 5 % and the longest 15 %.
    ///
    /// Where durations vary much, a few long ones decide the arithmetic mean, and chance decides how many there are. A wait adds
    /// the same time to each run. That is a larger share of a short one, so the geometric mean shows a wait with fewer runs.
    var mean: Double
    /// The standard deviation of the logarithm of a duration, which is about that of the duration as a share of the mean.
    let deviation: Double
    /// The number of runs in the summary.
    let count: Int
    /// How many runs were under way on average when one of these began.
    let concurrency: Double

    /// By what factor the mean varies more than the deviation predicts: the deviation leaves out the runs that vary most.
    static let spread = 1.7

    /// The standard error of the mean, at least 2 % of it.
    var error: Double { self.mean * max(Self.spread * self.deviation / Double(self.count).squareRoot(), 0.02) }

    /// The standard error of the difference to the mean of another cohort.
    func error(with other: Self) -> Double { (self.error * self.error + other.error * other.error).squareRoot() }
  }

  /// Added to each duration, so that the noise of the scheduler is no sign of overload where runs take microseconds.
  private static let tolerated = 0.0001

  /// Distinguishes the cohorts of a limit.
  let id: UInt64
  /// The number of runs.
  private(set) var size: Int
  /// The number of chosen runs that have not been abandoned.
  private var started = 0
  private var chosen = 0
  private var chosenConcurrency = 0
  private var durations: [Double] = []

  init(id: UInt64, size: Int) {
    self.id = id
    self.size = size
    self.durations.reserveCapacity(size)
  }

  private var neededCount: Int { max(1, (self.size * 85 + 99) / 100) }

  var isComplete: Bool { self.started >= self.size && self.durations.count >= self.neededCount }

  /// Chooses a run that begins. Returns false if the cohort has all its runs.
  mutating func add(concurrency: Int) -> Bool {
    guard self.started < self.size else { return false }
    self.started += 1
    self.chosen += 1
    self.chosenConcurrency += concurrency
    return true
  }

  /// Records the duration of a chosen run.
  mutating func end(_ duration: Duration) {
    self.durations.append(duration.seconds + Self.tolerated)
  }

  /// Forgets a chosen run that has no duration, because it has failed or was cancelled.
  mutating func abandonRun() {
    self.started -= 1
  }

  /// Chooses more runs, if the durations vary so much that the mean of `size` would say little.
  mutating func grow(to size: Int) {
    self.size = max(self.size, size)
  }

  /// The durations. Takes O(n log n).
  func summary() -> Summary {
    let sorted = self.durations.sorted()
    let counted = sorted[(self.size / 20)..<min(max(self.neededCount, self.size / 20 + 1), sorted.count)]
    let logarithms = counted.map { log($0) }
    let mean = logarithms.reduce(0, +) / Double(counted.count)
    let squares = logarithms.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return Summary(
      mean: exp(mean),
      deviation: (squares / Double(max(counted.count - 1, 1))).squareRoot(),
      count: sorted.count,
      concurrency: Double(self.chosenConcurrency) / Double(max(self.chosen, 1))
    )
  }
}
