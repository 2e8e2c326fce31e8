public import OperationCore

/// Limits how many runs are under way at once, with a share for each partition, such as a tenant.
///
/// ```swift
/// let limit = PartitionedLimit(100, shares: ["gold": PartitionShare(guaranteed: 50)]) { context in context.tenant }
/// let query = PostQuery(id: 1).limited(by: limit, maximumWait: .seconds(1))
/// ```
///
/// While permits are free, every partition borrows the permits that others do not use. When no permit is free, each
/// returned permit goes to a partition that uses fewer than it is guaranteed. Without one, it goes to the partition that
/// uses the smallest part of its share, and partitions that use an equal part take turns. So a tenant with many runs slows
/// only its own runs. Reserved permits are never lent.
///
/// A partition without a share of its own has the share `others`. It is forgotten when it has no run, so the number of
/// names has no bound. The runs of one partition begin in the order of a ``ConcurrencyLimit``. When the queue is full, a run
/// replaces the newest run of the lowest criticality in the longest line, unless that is its own line.
///
/// Guaranteed and borrowed shares follow the partitioned limiter of
/// [Netflix](https://github.com/Netflix/concurrency-limits), except that the sum never exceeds the permits; reserved ones are
/// the part that is not lendable in the priority levels of
/// [Kubernetes](https://kubernetes.io/docs/concepts/cluster-administration/flow-control/). The longest line pays for a full
/// queue as in [RFC 8290](https://www.rfc-editor.org/rfc/rfc8290).
public final class PartitionedLimit: OperationLimit {
  /// The permit of a run of one partition.
  public struct Permit: Sendable {
    let slot: Int
  }

  /// The name of the limit in errors, notices and texts; nil without a name.
  public let name: String?

  private let queue: LimitQueue<PartitionMachine>
  private let lastFailure = LastFailure()
  private let partition: @Sendable (OperationContext) -> String

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - permits: The number of runs that may be under way at once, from 1 to a billion.
  ///   - shares: The shares by the names of the partitions. What they guarantee is at most `permits` together.
  ///   - others: The share of each partition that has none of its own. It can guarantee nothing, because there may be any
  ///     number of them; its `maximum` counts.
  ///   - queue: The number of runs of all partitions that may wait, at least 0.
  ///   - order: Which of the waiting runs of a partition begins next.
  ///   - name: The name of the limit in errors, notices and texts, without user data.
  ///   - partition: The name of the partition of a run. Called before each run, while no lock is held.
  public init(
    _ permits: Int,
    shares: [String: PartitionShare] = [:],
    others: PartitionShare = PartitionShare(guaranteed: 0),
    queue: Int = 10_000,
    order: LimitOrder = .firstComeFirstServed,
    name: String? = nil,
    by partition: @escaping @Sendable (OperationContext) -> String
  ) {
    let problem = Self.problem(permits, shares, others, queue)
    precondition(problem == nil, problem ?? "")
    self.name = name
    self.partition = partition
    self.queue = LimitQueue(
      PartitionMachine(limit: permits, shares: shares, others: others, maximumWaiting: queue, order: order)
    )
  }

  private static func problem(
    _ permits: Int,
    _ shares: [String: PartitionShare],
    _ others: PartitionShare,
    _ queue: Int
  ) -> String? {
    if !(1...1_000_000_000).contains(permits) {
      return "A partitioned limit cannot admit \(permits) runs. Pass 1 to 1,000,000,000."
    }
    if queue < 0 { return "\(queue) runs cannot wait for a partitioned limit. Pass 0 or more." }
    for (name, share) in shares.sorted(by: { $0.key < $1.key }) {
      if let problem = share.problem(of: "the partition \"\(name)\"") { return problem }
    }
    if others.guaranteed != 0 {
      return "\(others.guaranteed) permits cannot be guaranteed to each of any number of partitions. Pass 0 for others."
    }
    if let problem = others.problem(of: "other partitions") { return problem }
    let guaranteed = shares.values.reduce(0.0) { $0 + Double($1.guaranteed) }
    if guaranteed > Double(permits) {
      return "\(guaranteed) permits cannot be guaranteed out of \(permits). Pass smaller shares."
    }
    return nil
  }

  /// The number of runs that may be under way at once.
  public var permits: Int { self.queue.withMachine { $0.limit } }

  /// The number of runs that are under way.
  public var activeCount: Int { self.queue.withMachine { $0.inUse } }

  /// The number of runs that wait.
  public var waitingCount: Int { self.queue.withMachine { $0.waiterCount } }

  /// Takes a permit at once; nil if none is free for the partition.
  public func takePermit(in context: OperationContext) -> Permit? {
    let name = self.partition(context)
    return self.queue.withMachine { $0.take(for: name) }.map { Permit(slot: $0) }
  }

  /// Waits for a permit, after the runs of the same partition.
  ///
  /// - Throws: ``OperationRejected``; `CancellationError` at once when the task is cancelled.
  public nonisolated(nonsending) func waitForPermit(
    in context: OperationContext,
    maximumWait: OperationDuration?
  ) async throws -> Permit {
    let name = self.partition(context)
    let now = context.elapsed
    let waiter = LimitWaiter(
      deadlines: context.operationDeadlines,
      due: maximumWait.map { now + $0.clampedForClock },
      criticality: context.operationCriticality
    )
    let decision = await self.queue.decision(about: waiter) { $0.join($1, to: name, at: now) }
    try decision.check(name: self.name, lastFailure: self.lastFailure)
    return Permit(slot: self.queue.withMachine { _ in waiter.slot })
  }

  /// Returns a permit, which goes to the partition with the first claim.
  ///
  /// - Complexity: O(log *n*) in the number of partitions with waiting runs.
  public func returnPermit(_ permit: Permit, after use: OperationPermitUse, in context: OperationContext) {
    if case .failed(let error) = use { self.lastFailure.set(error) }
    let now = context.elapsed
    self.queue.change { $0.giveBack(permit.slot, at: now) }
  }
}

// MARK: - While it runs

extension PartitionedLimit {
  /// Changes the limit while runs are under way and wait.
  ///
  /// Runs that are under way continue, and keep their permits also where their partition now has a smaller share. What
  /// comes back goes to the partitions by their new shares, and with more permits waiting runs begin at once. Runs that
  /// wait stay, also in a queue that is now too long.
  ///
  /// Impossible settings are reported with a warning. Then nothing changes.
  ///
  /// - Parameters:
  ///   - permits: The number of runs that may be under way at once, from 1 to a billion; nil to keep it.
  ///   - shares: The shares of all partitions that have one, at most `permits` together; nil to keep them.
  ///   - others: The share of each other partition; nil to keep it.
  ///   - queue: The number of runs that may wait, at least 0; nil to keep it.
  ///   - context: A context whose observers receive the notice ``OperationCore/OperationNotice/Name/limitChanged``;
  ///     nil for none.
  /// - Returns: Whether the settings are possible.
  @discardableResult
  public func update(
    permits: Int? = nil,
    shares: [String: PartitionShare]? = nil,
    others: PartitionShare? = nil,
    queue: Int? = nil,
    in context: OperationContext? = nil
  ) -> Bool {
    let now = context?.elapsed ?? self.queue.withMachine { $0.firstWaiter?.deadlines }?.elapsed ?? .zero
    let (problem, earlier, current) = self.queue.change { machine -> (String?, PartitionSettings, PartitionSettings) in
      let earlier = machine.settings
      let settings = PartitionSettings(
        limit: permits ?? earlier.limit,
        shares: shares ?? earlier.shares,
        others: others ?? earlier.others,
        maximumWaiting: queue ?? earlier.maximumWaiting
      )
      let problem = Self.problem(settings.limit, settings.shares, settings.others, settings.maximumWaiting)
      if problem == nil {
        machine.update(
          limit: settings.limit,
          shares: settings.shares,
          others: settings.others,
          maximumWaiting: settings.maximumWaiting,
          at: now
        )
      }
      return (problem, earlier, settings)
    }
    if OperationWarning.refuses(problem, by: self.name ?? "PartitionedLimit") { return false }
    var change = SettingsChange(of: self.name)
    change.add("limit.value", from: .number(Double(earlier.limit)), to: .number(Double(current.limit)))
    change.add("limit.queue", from: .integer(earlier.maximumWaiting), to: .integer(current.maximumWaiting))
    // Without the names, which may belong to users.
    change.add(
      "limit.shares",
      from: .integer(earlier.shares.count),
      to: .integer(current.shares.count),
      isReplaced: earlier.shares != current.shares || earlier.others != current.others
    )
    context?.send(.limitChanged, of: change)
    return true
  }

  /// The numbers of the limit and of its partitions at this moment.
  ///
  /// - Complexity: O(*n* log *n*) in the number of partitions.
  public func snapshot() -> PartitionedLimitSnapshot {
    self.queue.withMachine { machine in
      PartitionedLimitSnapshot(
        name: self.name ?? "PartitionedLimit",
        permits: machine.limit,
        active: machine.inUse,
        waiting: machine.waiterCount,
        queue: machine.maximumWaiting,
        rejections: machine.rejections,
        partitions: machine.uses
      )
    }
  }
}

extension PartitionedLimit: CustomStringConvertible {
  /// The numbers of the limit and of its partitions.
  public var description: String { "Partitioned limit \(self.snapshot())" }
}
