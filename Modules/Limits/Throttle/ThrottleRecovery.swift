internal import OperationCore

/// Finds out that a service is back, and lets more and more runs through to it.
///
/// The counts of a window alone take many windows for that: they let through only so many runs as the service has
/// accepted, and it can accept no more than it gets. So the outcomes of short rounds are looked at as well. Where a
/// service accepts nearly all that it gets for some rounds, the share that is let through doubles with each further one.
struct ThrottleRecovery: Sendable {
  private enum Phase: Sendable {
    /// The counts of the window decide.
    case watching(goodRounds: Int)
    /// At least this share of the runs is let through.
    case recovering(share: Double)
  }

  /// The outcomes of a round, at the end of one that has let every run through.
  struct Outcomes: Sendable {
    var runs = 0
    var accepts = 0
  }

  /// The highest probability with which a run is rejected.
  static let highestProbability = 0.99

  private static let roundsOfWindow = 40
  private static let fewestGoodRounds = 3

  private let roundLength: Duration
  /// The longest time without a run that is let through.
  private let probeInterval: Duration
  private var phase = Phase.watching(goodRounds: 0)
  private var round = Outcomes()
  private var roundStart = Duration.zero
  private var lastRun: Duration?
  /// The good rounds after which a recovery begins. It doubles when a recovery was in vain: a service that accepts all of
  /// little, and not of more, is overloaded.
  private var neededRounds = Self.fewestGoodRounds

  init(window: Duration) {
    self.roundLength = window / Self.roundsOfWindow
    self.probeInterval = min(.seconds(1), window / (Self.roundsOfWindow / 2))
  }

  /// The probability with which the next run is rejected.
  ///
  /// - Parameter counted: The probability by the counts of the window.
  /// - Returns: A probability that is not higher.
  func probability(_ counted: Double) -> Double {
    let highest = if case .recovering(let share) = self.phase { 1 - share } else { Self.highestProbability }
    return min(counted, min(highest, Self.highestProbability))
  }

  /// Whether a run is let through because none was for some time.
  func isProbe(at now: Duration) -> Bool { self.lastRun.map { now - $0 >= self.probeInterval } ?? true }

  mutating func noteRun(at now: Duration) { self.lastRun = now }

  mutating func note(isAccepted: Bool) {
    self.round.runs += 1
    if isAccepted { self.round.accepts += 1 }
  }

  /// Ends a round whose time is over.
  ///
  /// - Parameters:
  ///   - now: The elapsed time.
  ///   - counted: The probability by the counts of the window.
  ///   - multiplier: The multiplier of the throttle.
  /// - Returns: The outcomes of the round if the service has recovered, from which on the window counts; nil otherwise.
  mutating func advance(to now: Duration, counted: Double, multiplier: Double) -> Outcomes? {
    guard now - self.roundStart >= self.roundLength, self.round.runs > 0 else { return nil }
    let ended = self.round
    self.round = Outcomes()
    self.roundStart = now
    // An overloaded service accepts one of `multiplier` runs that reach it. This is half-way between that and all.
    let isGood = Double(ended.accepts) >= Double(ended.runs) * (1 + 1 / multiplier) / 2
    switch self.phase {
    case .watching(let goodRounds):
      if ended.accepts == 0 { self.neededRounds = Self.fewestGoodRounds }
      guard isGood, counted > 0 else {
        self.phase = .watching(goodRounds: 0)
        return nil
      }
      guard goodRounds + 1 >= self.neededRounds else {
        self.phase = .watching(goodRounds: goodRounds + 1)
        return nil
      }
      self.phase = .recovering(share: min(1, 2 * (1 - min(counted, Self.highestProbability))))
      return nil
    case .recovering(let share):
      guard isGood else {
        self.phase = .watching(goodRounds: 0)
        self.neededRounds = min(2 * self.neededRounds, Self.roundsOfWindow)
        return nil
      }
      guard share >= 1 else {
        self.phase = .recovering(share: min(1, 2 * share))
        return nil
      }
      self.phase = .watching(goodRounds: 0)
      self.neededRounds = Self.fewestGoodRounds
      return ended
    }
  }
}
