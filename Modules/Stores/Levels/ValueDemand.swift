public import OperationFoundation

/// What a reader asks of a value. Without a demand, any value will do.
public struct ValueDemand: Sendable {
  /// The time of the reader, by the clock that has dated the values.
  public var now: Date

  /// The last invalidation that the value must have seen.
  public var seen = InvalidationEpoch.zero

  /// The value must not be older; nil for any age. A value without a date, or with one in the future, has an unknown age.
  public var notOlderThan: Date?

  /// The value must be newer than the one with this revision; nil if there is no such value.
  public var newerThan: Int64?

  /// The value must not be older than the one that is shown, which has this date; nil if it may be.
  public var atLeast: Date?

  /// Whether the value must be fresh, as far as it says so itself: it is neither partial nor invalidated, and the period for
  /// which its body called it fresh has not ended.
  public var mustBeFresh = false

  /// Creates a demand that each value meets.
  ///
  /// - Parameter now: The time of the reader.
  public init(at now: Date = Date()) {
    self.now = now
  }

  /// Whether a value meets the demand.
  ///
  /// - Parameter value: The value.
  /// - Returns: False also for a value that cannot be compared, as its date or its revision is unknown.
  public func isMet(by value: LevelValue) -> Bool {
    if value.stamp.kind == .none || value.seen < self.seen { return false }
    if self.mustBeFresh, !value.callsItselfFresh(at: self.now) { return false }
    if let newerThan, value.revision.map({ $0 <= newerThan }) ?? true { return false }
    guard let limit = [self.notOlderThan, self.atLeast].compactMap(\.self).max() else { return true }
    guard let date = value.date, date <= self.now else { return false }
    return date >= limit
  }
}

extension LevelValue {
  /// Whether the value is neither partial nor invalidated, and the period in which its body called it fresh has not ended.
  fileprivate func callsItselfFresh(at now: Date) -> Bool {
    switch self.stamp.kind {
    case .none, .placeholder, .partial: return false
    case .fallback where self.stamp.freshness == nil: return false
    default: break
    }
    guard !self.isInvalidated else { return false }
    guard let freshness = self.stamp.freshness else { return true }
    guard let date, date <= now else { return false }
    return now.timeIntervalSince(date) < freshness.seconds
  }
}
