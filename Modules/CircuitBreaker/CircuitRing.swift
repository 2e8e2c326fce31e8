/// The results of the last runs, up to a number of them, however long ago they were.
struct CircuitRing: Sendable {
  private enum Result {
    static let failure: UInt8 = 1
    static let slow: UInt8 = 2
  }

  let capacity: Int
  private var results: [UInt8] = []
  /// The index of the oldest result of a full ring.
  private var oldest = 0
  private(set) var failures = 0
  private(set) var slow = 0

  init(capacity: Int) {
    self.capacity = capacity
    // Grows with the runs up to its capacity: a breaker of a service that is rarely called stays small.
  }

  var runs: Int { self.results.count }

  /// Counts a run in place of the oldest one of a full ring.
  mutating func add(isFailure: Bool, isSlow: Bool) {
    let result = (isFailure ? Result.failure : 0) | (isSlow ? Result.slow : 0)
    self.count(result, by: 1)
    guard self.results.count == self.capacity else {
      self.results.append(result)
      return
    }
    self.count(self.results[self.oldest], by: -1)
    self.results[self.oldest] = result
    self.oldest = self.oldest + 1 == self.capacity ? 0 : self.oldest + 1
  }

  /// The numbers with one more result, which is not counted yet.
  func counts(adding isFailure: Bool, _ isSlow: Bool) -> (runs: Int, failures: Int, slow: Int) {
    let replaced = self.results.count == self.capacity ? self.results[self.oldest] : 0
    return (
      min(self.results.count + 1, self.capacity),
      self.failures + (isFailure ? 1 : 0) - (replaced & Result.failure != 0 ? 1 : 0),
      self.slow + (isSlow ? 1 : 0) - (replaced & Result.slow != 0 ? 1 : 0)
    )
  }

  /// Forgets all runs.
  mutating func removeAll() {
    self.results.removeAll(keepingCapacity: true)
    (self.oldest, self.failures, self.slow) = (0, 0, 0)
  }

  private mutating func count(_ result: UInt8, by number: Int) {
    if result & Result.failure != 0 { self.failures += number }
    if result & Result.slow != 0 { self.slow += number }
  }
}

/// The results that a breaker counts: of the runs in a time, or of the last runs.
struct CircuitHistory: Sendable {
  private var window: CircuitWindow
  /// Nil if the runs of a time are counted.
  private var ring: CircuitRing?

  init(window: Duration, lastRuns: Int?) {
    self.window = CircuitWindow(length: window)
    self.ring = lastRuns.map { CircuitRing(capacity: $0) }
  }

  var runs: Int { self.ring?.runs ?? self.window.runs }
  var failures: Int { self.ring?.failures ?? self.window.failures }
  var slow: Int { self.ring?.slow ?? self.window.slow }

  /// Forgets what is too old at a time.
  mutating func advance(to now: Duration) {
    if self.ring == nil { self.window.advance(to: now) }
  }

  mutating func add(isFailure: Bool, isSlow: Bool) {
    if self.ring == nil {
      self.window.add(isFailure: isFailure, isSlow: isSlow)
    } else {
      self.ring?.add(isFailure: isFailure, isSlow: isSlow)
    }
  }

  /// The numbers with one more result, which is not counted yet.
  func counts(adding isFailure: Bool, _ isSlow: Bool) -> (runs: Int, failures: Int, slow: Int) {
    if let ring { return ring.counts(adding: isFailure, isSlow) }
    return (self.window.runs + 1, self.window.failures + (isFailure ? 1 : 0), self.window.slow + (isSlow ? 1 : 0))
  }

  mutating func removeAll() {
    self.window.removeAll()
    self.ring?.removeAll()
  }
}
