#if os(Linux)
  internal import OperationControlGroups

  /// Tells from the counters of a group's `memory.events` what has happened since they were read before.
  struct LimitRecord: Hashable, Sendable {
    private static let killings = ["oom", "oom_kill", "oom_group_kill"]

    private let window: Duration
    private var counts: KeyedNumbers
    /// The window in which the group last met its hard limit.
    private var lastFullWindow: Int64?

    init(counts: KeyedNumbers, window: Duration = .seconds(2)) {
      self.counts = counts
      self.window = window
    }

    /// Notes the counters; nil when none of those that matter has grown.
    ///
    /// Being held back by a limit is a warning. To meet the hard limit in two windows running, or to lose a process to it,
    /// is critical.
    mutating func note(_ counts: KeyedNumbers, at time: Duration) -> MemoryPressure? {
      let before = self.counts
      // Who reads while a file is being written finds less than there is.
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
