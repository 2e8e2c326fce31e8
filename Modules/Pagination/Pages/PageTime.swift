public import FoundationEssentials

/// When a state has taken in a page, by the clock of the context that brought it.
@usableFromInline
struct PageTime: Sendable {
  /// In seconds since the reference date; not a number where there is no date.
  @usableFromInline let seconds: Double

  @inlinable
  init(seconds: Double) {
    self.seconds = seconds
  }

  @inlinable
  init(_ date: Date) {
    self.seconds = date.timeIntervalSinceReferenceDate
  }

  /// No state has taken the page in.
  @inlinable
  static var none: PageTime { PageTime(seconds: .nan) }

  /// A state was made with the page, which may be of any age.
  @inlinable
  static var unknown: PageTime { PageTime(seconds: -.infinity) }

  @inlinable
  var isNone: Bool { self.seconds.isNaN }
}

extension Pages {
  /// Dates the pages that no state has taken in yet.
  @usableFromInline
  mutating func date(_ time: PageTime) {
    self.entries.update(where: \.time.isNone) { $0.time = time }
  }

  /// When the oldest of the pages was taken in; nil where that is unknown of one of them, or of all.
  ///
  /// - Complexity: O(n).
  @usableFromInline
  var oldestDate: Date? {
    var oldest = Double.infinity
    // Minima are not poisoned by what is not a number.
    self.entries.visit { oldest = .minimum(oldest, $0.time.seconds) }
    return oldest.isFinite ? Date(timeIntervalSinceReferenceDate: oldest) : nil
  }
}
