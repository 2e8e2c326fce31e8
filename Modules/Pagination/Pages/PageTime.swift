public import OperationFoundation

/// The date at which a page was set or loaded in a state, by the clock of the context of that change.
@usableFromInline
struct PageTime: Sendable {
  /// In seconds since the reference date. NaN if there is no date.
  @usableFromInline let seconds: Double

  @inlinable
  init(seconds: Double) {
    self.seconds = seconds
  }

  @inlinable
  init(_ date: Date) {
    self.seconds = date.timeIntervalSinceReferenceDate
  }

  /// The date of a page that no state has contained yet.
  @inlinable
  static var none: PageTime { PageTime(seconds: .nan) }

  /// The date of a page from the initial value of a state, whose age is unknown.
  @inlinable
  static var unknown: PageTime { PageTime(seconds: -.infinity) }

  @inlinable
  var isNone: Bool { self.seconds.isNaN }
}

extension Pages {
  /// Sets the date of the pages that have none yet.
  ///
  /// - Parameters:
  ///   - time: The date.
  ///   - initialPages: The pages that the state was created with. Their age is unknown, so they get
  ///     ``PageTime/unknown`` instead.
  @inlinable
  mutating func date(_ time: PageTime, initialPages: Pages = Pages()) {
    self.entries.update(
      where: { $0.time.isNone },
      change: { entry in entry.time = initialPages.containsEntry(entry) ? .unknown : time }
    )
  }

  /// The date of the oldest page. Nil if the date of a page is unknown, or if no page has a date.
  ///
  /// - Complexity: O(n).
  @inlinable
  func oldestDate(initialPages: Pages) -> Date? {
    var oldest = Double.infinity
    self.entries.visit { entry in
      let isUnknown = entry.time.isNone && initialPages.containsEntry(entry)
      // Unlike `min`, `minimum` ignores NaN.
      oldest = .minimum(oldest, isUnknown ? -.infinity : entry.time.seconds)
    }
    return oldest.isFinite ? Date(timeIntervalSinceReferenceDate: oldest) : nil
  }

  /// Whether these pages contain the entry in the same revision.
  @inlinable
  func containsEntry(_ entry: Entry) -> Bool {
    !self.isEmpty && self.entry(of: entry.page.id)?.revision == entry.revision
  }
}
