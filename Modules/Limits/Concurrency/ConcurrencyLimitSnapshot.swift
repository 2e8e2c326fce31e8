public import OperationCore

/// The numbers of a ``ConcurrencyLimit`` at one moment, for logs, status pages and gauges.
public struct ConcurrencyLimitSnapshot: OperationResilienceSnapshot, Hashable {
  /// The name of the limit; `ConcurrencyLimit` for one without a name.
  public let name: String

  /// The number of runs that may be under way at once.
  public let permits: Int

  /// The number of runs that are under way. It is above ``permits`` for a while after the limit was lowered.
  public let active: Int

  /// The number of runs that wait.
  public let waiting: Int

  /// The number of runs that may wait.
  public let queue: Int

  /// How many runs the limit has rejected since it was created.
  public let rejections: Int

  public var gauges: [String: Double] {
    [
      "limit.permits": Double(self.permits), "limit.active": Double(self.active),
      "limit.waiting": Double(self.waiting), "limit.rejections": Double(self.rejections),
    ]
  }

  /// The snapshot on one line.
  public var description: String {
    """
    \(self.name): \(self.active) of \(self.permits) runs under way, \(self.waiting) of \(self.queue) waiting, \
    \(self.rejections) rejected
    """
  }
}
