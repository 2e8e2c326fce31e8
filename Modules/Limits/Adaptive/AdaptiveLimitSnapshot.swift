public import OperationCore

/// The numbers of an ``AdaptiveLimit`` at one moment, for logs, status pages and gauges.
public struct AdaptiveLimitSnapshot: OperationResilienceSnapshot, Hashable {
  /// Why an adaptive limit has its current number.
  @nonexhaustive(warn)
  public enum Reason: String, Sendable, Hashable, Encodable {
    /// It has the minimum, with which it began.
    case initial
    /// It has doubled, because no overload has been seen since it began.
    case doubling
    /// It has grown, because runs take no longer than `tolerance` allows.
    case growing
    /// It has shrunk, because runs take longer than with fewer of them under way.
    case durations
    /// It has shrunk, because runs have failed.
    case failures
    /// It was moved into another range.
    case update
  }

  /// The name of the limit; `AdaptiveLimit` for one without a name.
  public let name: String

  /// The number of runs that may be under way at once.
  public let limit: Int

  /// Why the limit has this number.
  public let reason: Reason

  /// The number that is admitted at the moment: less than ``limit`` while the limit measures.
  public let admitted: Int

  /// The lowest number of the limit.
  public let minimum: Int

  /// The highest number of the limit.
  public let maximum: Int

  /// The number of runs that are under way.
  public let active: Int

  /// The number of runs that wait.
  public let waiting: Int

  /// How many runs the limit has rejected since it was created.
  public let rejections: Int

  public var gauges: [String: Double] {
    [
      "limit.permits": Double(self.limit), "limit.active": Double(self.active),
      "limit.waiting": Double(self.waiting), "limit.rejections": Double(self.rejections),
    ]
  }

  /// The snapshot on one line.
  public var description: String {
    """
    \(self.name): \(self.active) of \(self.limit) runs under way (\(self.reason.rawValue), \(self.minimum) to \
    \(self.maximum)), \(self.waiting) waiting, \(self.rejections) rejected
    """
  }
}
