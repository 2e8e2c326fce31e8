/// The durations of the last runs, in the order of the runs and sorted by length.
struct HedgeLatencies: Sendable {
  static let capacity = 500

  private var recent: [Duration] = []
  private var sorted: [Duration] = []
  /// The index of the oldest duration once the capacity is reached.
  private var oldest = 0

  mutating func add(_ duration: Duration) {
    if self.recent.count < Self.capacity {
      self.recent.append(duration)
    } else {
      self.sorted.remove(at: self.position(of: self.recent[self.oldest]))
      self.recent[self.oldest] = duration
      self.oldest = (self.oldest + 1) % Self.capacity
    }
    self.sorted.insert(duration, at: self.position(of: duration))
  }

  /// The duration within which a share of the runs has ended (nearest rank); nil below the minimum of runs.
  func quantile(_ quantile: Double, minimumRuns: Int) -> Duration? {
    guard self.sorted.count >= minimumRuns else { return nil }
    // A product such as 0.07 * 100 is rounded to just above an integer, and must not be rounded up further.
    let rank = Int((quantile * Double(self.sorted.count) - 1e-9).rounded(.up))
    return self.sorted[min(max(rank, 1), self.sorted.count) - 1]
  }

  /// The first index whose duration is not shorter, by binary search.
  private func position(of duration: Duration) -> Int {
    var (low, high) = (0, self.sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if self.sorted[middle] < duration { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
