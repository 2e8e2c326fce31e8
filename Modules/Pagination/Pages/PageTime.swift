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

  /// The page comes from the initial value of a state, and may be of any age.
  @inlinable
  static var unknown: PageTime { PageTime(seconds: -.infinity) }

  @inlinable
  var isNone: Bool { self.seconds.isNaN }
}

extension Pages {
  /// Dates the pages that no state has taken in yet.
  ///
  /// - Parameter initialPages: The pages that the state was made with, whose age is unknown.
  @inlinable
  mutating func date(_ time: PageTime, initialPages: Pages = Pages()) {
    self.entries.update(
      where: { $0.time.isNone },
      change: { entry in entry.time = initialPages.containsEntry(entry) ? .unknown : time }
    )
  }

  /// When the oldest of the pages was taken in; nil where that is unknown of one of them, or of all.
  ///
  /// - Complexity: O(n).
  @inlinable
  func oldestDate(initialPages: Pages) -> Date? {
    var oldest = Double.infinity
    self.entries.visit { entry in
      let isUnknown = entry.time.isNone && initialPages.containsEntry(entry)
      // Minima are not poisoned by what is not a number.
      oldest = .minimum(oldest, isUnknown ? -.infinity : entry.time.seconds)
    }
    return oldest.isFinite ? Date(timeIntervalSinceReferenceDate: oldest) : nil
  }

  /// Whether an entry is one of these and has not been written to since.
  @inlinable
  func containsEntry(_ entry: Entry) -> Bool {
    !self.isEmpty && self.entry(of: entry.page.id)?.revision == entry.revision
  }
}
