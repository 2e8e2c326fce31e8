#if os(Linux)
  /// Decides when to reopen the inputs after one is lost, and which sources are no longer used.
  ///
  /// Usually a replacement exists by then, such as another group, or a service manager that has restarted. A source
  /// that is lost again right after a reopening would wake the process again and again. It is refused from then on, and
  /// the next reopening is delayed. Times are durations since a fixed moment.
  struct ReopeningPlan: Hashable, Sendable {
    /// When to reopen the inputs; nil while none is lost.
    private(set) var due: Duration?
    /// Sources that have been lost again right after a reopening.
    private(set) var refused: Set<StallSource> = []

    /// The minimum time between two reopenings.
    private let pause: Duration
    private var last: Duration?

    init(pause: Duration) {
      self.pause = pause
    }

    /// Records that an input is lost or could not be opened.
    ///
    /// - Parameters:
    ///   - source: The source of the input if it is one of stalls.
    ///   - time: The current time.
    ///   - delay: The delay before the reopening, unless the pause between reopenings requires a longer one.
    mutating func note(gone source: StallSource?, at time: Duration, delay: Duration) {
      let earliest = self.last.map { $0 + self.pause } ?? time
      if let source, time < earliest { self.refused.insert(source) }
      // Inputs that are lost until then are reopened at the same time.
      self.due = self.due ?? max(time + delay, earliest)
    }

    func isDue(at time: Duration) -> Bool {
      self.due.map { $0 <= time } ?? false
    }

    /// Records that the inputs are being reopened.
    mutating func reopen(at time: Duration) {
      self.due = nil
      self.last = time
    }
  }
#endif
