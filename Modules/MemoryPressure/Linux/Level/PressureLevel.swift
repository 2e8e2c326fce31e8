#if os(Linux)
  /// Makes one level of what all sources say.
  ///
  /// The level rises at once. It falls when nothing has happened at it for a while and no more memory is in use than that
  /// leaves a margin, so that it does not waver. A time is a duration since some fixed moment.
  struct PressureLevel: Hashable, Sendable {
    /// From which part of the memory in use a level holds, and below which it no longer does.
    struct Threshold: Hashable, Sendable {
      var rise: Double
      var fall: Double

      static let warning = Threshold(rise: 0.85, fall: 0.80)
      static let critical = Threshold(rise: 0.95, fall: 0.90)
    }

    /// How long the level stays after what has raised it.
    static let calm = Duration.seconds(10)
    /// How long what has been told stays, unless the level rises.
    static let repetition = Duration.seconds(2)

    private(set) var current = MemoryPressure.normal
    /// When something last happened at each level, or above it.
    private var lastWarning: Duration?
    private var lastCritical: Duration?
    /// The part of the memory that was in use when somebody last looked.
    private var usage = 0.0
    private var lastTold: Duration?
  }

  extension PressureLevel {
    /// Notes that something has happened; what it returns is to be told.
    mutating func note(_ pressure: MemoryPressure, at time: Duration) -> MemoryPressure? {
      guard pressure != .normal else { return nil }
      self.lastWarning = time
      if pressure == .critical { self.lastCritical = time }
      // What falls short of the present level is no news.
      return self.tell(self.level(at: time), at: time, isRepeated: pressure == self.current)
    }

    /// Notes how much of the memory is in use, or nil where nobody knows; what it returns is to be told.
    mutating func note(usage: Double?, at time: Duration) -> MemoryPressure? {
      self.usage = usage ?? 0
      if self.usage >= Threshold.warning.rise { self.lastWarning = time }
      if self.usage >= Threshold.critical.rise { self.lastCritical = time }
      return self.tell(self.level(at: time), at: time, isRepeated: false)
    }

    /// Forgets what has happened: nobody has looked for a while.
    mutating func reset() {
      self = PressureLevel()
    }

    private mutating func tell(_ level: MemoryPressure, at time: Duration, isRepeated: Bool) -> MemoryPressure? {
      if level == self.current, !isRepeated { return nil }
      // It rises at once; all else has time.
      let isRise = level.rawValue > self.current.rawValue
      if !isRise, let last = self.lastTold, time - last < Self.repetition { return nil }
      self.current = level
      self.lastTold = time
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
