#if os(Linux)
  /// Combines all inputs into one level.
  ///
  /// The level rises at once. It falls after a while without an event, when the usage is below a second, lower
  /// threshold, so that the level does not flap. Times are durations since a fixed moment.
  struct PressureLevel: Hashable, Sendable {
    /// The usage at which a level is reached, and below which it ends.
    struct Threshold: Hashable, Sendable {
      var rise: Double
      var fall: Double

      static let warning = Threshold(rise: 0.85, fall: 0.80)
      static let critical = Threshold(rise: 0.95, fall: 0.90)
    }

    /// How long the level stays raised after an event.
    static let calm = Duration.seconds(10)
    /// The minimum time between two reports, unless the level rises.
    static let repetition = Duration.seconds(2)

    private(set) var current = MemoryPressure.normal
    /// When the last event at this level or above it happened.
    private var lastWarning: Duration?
    private var lastCritical: Duration?
    /// The usage at the last check.
    private var usage = 0.0
    private var lastReport: Duration?
  }

  extension PressureLevel {
    /// Records an event. Returns the level to report, or nil.
    mutating func note(_ pressure: MemoryPressure, at time: Duration) -> MemoryPressure? {
      guard pressure != .normal else { return nil }
      self.lastWarning = time
      if pressure == .critical { self.lastCritical = time }
      // An event below the current level is not reported.
      return self.report(self.level(at: time), at: time, isRepeated: pressure == self.current)
    }

    /// Records the usage, nil if it is unknown. Returns the level to report, or nil.
    mutating func note(usage: Double?, at time: Duration) -> MemoryPressure? {
      self.usage = usage ?? 0
      if self.usage >= Threshold.warning.rise { self.lastWarning = time }
      if self.usage >= Threshold.critical.rise { self.lastCritical = time }
      return self.report(self.level(at: time), at: time, isRepeated: false)
    }

    private mutating func report(_ level: MemoryPressure, at time: Duration, isRepeated: Bool) -> MemoryPressure? {
      if level == self.current, !isRepeated { return nil }
      // A rise is reported at once; all other changes can wait.
      let isRise = level.rawValue > self.current.rawValue
      if !isRise, let last = self.lastReport, time - last < Self.repetition { return nil }
      self.current = level
      self.lastReport = time
      return level
    }

    private func level(at time: Duration) -> MemoryPressure {
      let isCritical = self.current == .critical
      if Self.holds(since: self.lastCritical, .critical, usage: self.usage, isRaised: isCritical, at: time) {
        return .critical
      }
      let isRaised = self.current != .normal
      if Self.holds(since: self.lastWarning, .warning, usage: self.usage, isRaised: isRaised, at: time) {
        return .warning
      }
      return .normal
    }

    private static func holds(
      since last: Duration?,
      _ threshold: Threshold,
      usage: Double,
      isRaised: Bool,
      at time: Duration
    ) -> Bool {
      if let last, time - last < self.calm { return true }
      return usage >= (isRaised ? threshold.fall : threshold.rise)
    }
  }
#endif
