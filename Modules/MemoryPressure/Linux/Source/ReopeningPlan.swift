#if os(Linux)
  /// Says when to open all anew after something is gone, and what not to try again.
  ///
  /// Mostly there is something else in its place by then, such as another group, or a service manager that has begun anew.
  /// What is gone again right afterwards would go on like that for ever and wake the process each time, so it is refused
  /// from then on, and the next opening has to wait. A time is a duration since some fixed moment.
  struct ReopeningPlan: Hashable, Sendable {
    /// When to open all anew; nil while nothing is gone.
    private(set) var due: Duration?
    /// What has turned out to be of no use.
    private(set) var refused: Set<StallSource> = []

    /// How long it takes at least from one opening anew to the next.
    private let pause: Duration
    private var last: Duration?

    init(pause: Duration) {
      self.pause = pause
    }

    /// Notes that something is gone.
    ///
    /// - Parameters:
    ///   - source: Where it came from, if that is a source of stalls.
    ///   - time: The present.
    ///   - delay: How long to wait with the opening, unless it has to wait for longer.
    mutating func note(gone source: StallSource?, at time: Duration, delay: Duration) {
      let earliest = self.last.map { $0 + self.pause } ?? time
      if let source, time < earliest { self.refused.insert(source) }
      // What else is gone meanwhile is opened along with it.
      self.due = self.due ?? max(time + delay, earliest)
    }

    func isDue(at time: Duration) -> Bool {
      self.due.map { $0 <= time } ?? false
    }

    /// Notes that all is being opened anew.
    mutating func reopen(at time: Duration) {
      self.due = nil
      self.last = time
    }
  }
#endif
