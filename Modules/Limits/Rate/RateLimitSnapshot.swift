public import OperationCore

/// The numbers of a ``RateLimit`` at one moment, for logs, status pages and gauges.
public struct RateLimitSnapshot: OperationResilienceSnapshot, Hashable {
  /// The name of the limit; `RateLimit` for one without a name.
  public let name: String

  /// The number of runs that may begin in a period.
  public let count: Int

  /// The length of the period in seconds.
  public let periodSeconds: Double

  /// The number of permits that the bucket holds.
  public let burst: Int

  /// The number of permits in the bucket, at the last time that the limit knows.
  public let available: Int

  /// The number of runs that wait.
  public let waiting: Int

  /// The number of runs that may wait.
  public let queue: Int

  /// How many runs the limit has rejected since it was created.
  public let rejections: Int

  public var gauges: [String: Double] {
    [
      "limit.permits": Double(self.burst), "limit.available": Double(self.available),
      "limit.waiting": Double(self.waiting), "limit.rejections": Double(self.rejections),
    ]
  }

  /// The snapshot on one line.
  public var description: String {
    """
    \(self.name): \(self.available) of \(self.burst) permits available, \(self.count) come in \(self.periodSeconds) s, \
    \(self.waiting) of \(self.queue) waiting, \(self.rejections) rejected
    """
  }
}
