public import OperationCore

/// The numbers of a ``PartitionedLimit`` at one moment, for logs, status pages and gauges.
public struct PartitionedLimitSnapshot: OperationResilienceSnapshot, Hashable {
  /// The numbers of one partition.
  public struct Partition: Sendable, Hashable, Encodable {
    /// The name of the partition.
    public let name: String

    /// The number of permits on which it has the first claim.
    public let guaranteed: Int

    /// The number of its runs that are under way.
    public let active: Int

    /// The number of its runs that wait.
    public let waiting: Int

    /// The number of its runs that are under way with permits of others, or with permits that no tenant has a claim on.
    public var borrowed: Int { max(self.active - self.guaranteed, 0) }

    package init(name: String, guaranteed: Int, active: Int, waiting: Int) {
      self.name = name
      self.guaranteed = guaranteed
      self.active = active
      self.waiting = waiting
    }
  }

  /// The name of the limit; `PartitionedLimit` for one without a name.
  public let name: String

  /// The number of runs that may be under way at once.
  public let permits: Int

  /// The number of runs that are under way.
  public let active: Int

  /// The number of runs that wait.
  public let waiting: Int

  /// The number of runs that may wait.
  public let queue: Int

  /// How many runs the limit has rejected since it was created.
  public let rejections: Int

  /// The partitions that are listed or have runs, by name.
  public let partitions: [Partition]

  /// The numbers of the whole limit. Partitions have no gauges, because the number of their names has no bound.
  public var gauges: [String: Double] {
    [
      "limit.permits": Double(self.permits), "limit.active": Double(self.active),
      "limit.waiting": Double(self.waiting), "limit.rejections": Double(self.rejections),
    ]
  }

  /// The snapshot on one line.
  public var description: String {
    let partitions = self.partitions.map { "\($0.name) \($0.active)/\($0.guaranteed) and \($0.waiting) waiting" }
    return """
      \(self.name): \(self.active) of \(self.permits) runs under way, \(self.waiting) of \(self.queue) waiting, \
      \(self.rejections) rejected (\(partitions.joined(separator: ", ")))
      """
  }
}
