#if os(Linux)
  internal import OperationControlGroups

  /// Compares the counters of a group's `memory.events` with those that were read before.
  struct LimitRecord: Hashable, Sendable {
    private static let killings = ["oom", "oom_kill", "oom_group_kill"]

    private let window: Duration
    private var counts: KeyedNumbers
    /// The last window in which the group reached its hard limit.
    private var lastFullWindow: Int64?

    init(counts: KeyedNumbers, window: Duration = .seconds(2)) {
      self.counts = counts
      self.window = window
    }

    /// Stores the counters, and returns the pressure; nil if none of the relevant counters has grown.
    ///
    /// Reaching a limit is a warning. Reaching the hard limit in two consecutive windows, or the killing of a process,
    /// is critical.
    mutating func note(_ counts: KeyedNumbers, at time: Duration) -> MemoryPressure? {
      let before = self.counts
      // A file that is being written may lack counters. Their earlier values stay.
      self.counts = counts.completed(by: before)
      func hasGrown(_ name: String) -> Bool {
        guard let now = counts[name] else { return false }
        return now > before[name] ?? 0
      }
      let hasMetLimit = hasGrown("max")
      let current = Int64(time / self.window)
      let lastFullWindow = self.lastFullWindow
      if hasMetLimit { self.lastFullWindow = current }
      if Self.killings.contains(where: hasGrown) { return .critical }
      if hasMetLimit { return lastFullWindow == current - 1 ? .critical : .warning }
      return hasGrown("high") ? .warning : nil
    }
  }
#endif
