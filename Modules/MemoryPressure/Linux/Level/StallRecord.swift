#if os(Linux)
  /// Checks whether a trigger has fired correctly.
  ///
  /// The kernel may count stalls from before the trigger was set, and then fires long before the threshold is reached.
  /// So the total is read before the trigger is set, and again at each event and each check.
  struct StallRecord: Hashable, Sendable {
    private struct Sample: Hashable, Sendable {
      var total: UInt64
      var time: Duration
    }

    let threshold: StallThreshold
    /// The samples that later totals are compared with: one that is at least a window old, and the ones after it.
    private var samples: [Sample]

    init(threshold: StallThreshold, total: UInt64, at time: Duration) {
      self.threshold = threshold
      self.samples = [Sample(total: total, time: time)]
    }

    /// Records a total. Returns whether it has grown by the threshold within the last window, or since the last sample
    /// if that is older than a window.
    mutating func note(total: UInt64, at time: Duration) -> Bool {
      let window = Duration.microseconds(Int64(clamping: self.threshold.window))
      let old = self.samples.prefix { time - $0.time >= window }.count
      self.samples.removeFirst(max(0, old - 1))
      let isStalled = self.samples.first.map { total >= $0.total && total - $0.total >= self.threshold.stall } ?? false
      self.samples.append(Sample(total: total, time: time))
      return isStalled
    }
  }
#endif
