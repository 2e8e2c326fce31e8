public import OperationCore

/// Limits how many runs are under way at once.
///
/// ```swift
/// let limit = ConcurrencyLimit(10, queue: 100)
/// let query = PostQuery(id: 1).limited(by: limit, maximumWait: .seconds(2))
/// ```
///
/// Runs beyond the limit wait. Those with a higher ``/OperationCore/OperationContext/operationCriticality`` begin first,
/// and others in the order in which they came, whatever the priorities of their tasks; another ``LimitOrder`` is for
/// queues that stand. When the queue is full, a run that matters more takes the place of the newest that matters least.
/// A waiting run occupies no thread and no timer of its own.
///
/// ``update(permits:queue:order:in:)`` changes the limit while it runs, and ``snapshot()`` shows its numbers.
public final class ConcurrencyLimit: OperationLimit {
  /// The name of the limit in errors, notices and texts; nil without a name.
  public let name: String?

  /// The number of runs that may be under way at once.
  public var permits: Int { self.queue.withMachine { $0.limit } }

  private let queue: LimitQueue<PermitMachine>
  private let lastFailure = LastFailure()

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - permits: The number of runs that may be under way at once, at least 1.
  ///   - queue: The number of runs that may wait, at least 0. Runs beyond it are rejected at once.
  ///   - order: Which of the waiting runs begins next, and which of them have waited in vain.
  ///   - name: The name of the limit in errors, notices and texts, without user data.
  public init(
    _ permits: Int,
    queue: Int = 10_000,
    order: LimitOrder = .firstComeFirstServed,
    name: String? = nil
  ) {
    let problem = Self.problem(permits: permits, queue: queue)
    precondition(problem == nil, problem ?? "")
    self.name = name
    self.queue = LimitQueue(PermitMachine(limit: permits, maximumWaiting: queue, order: order))
  }

  private static func problem(permits: Int?, queue: Int?) -> String? {
    if let permits, permits < 1 { return "A concurrency limit of \(permits) would admit no run. Pass at least 1." }
    if let queue, queue < 0 { return "\(queue) runs cannot wait for a concurrency limit. Pass 0 or more." }
    return nil
  }

  /// The number of runs that are under way.
  public var activeCount: Int { self.queue.withMachine { $0.inUse } }

  /// The number of runs that wait.
  public var waitingCount: Int { self.queue.withMachine { $0.waiterCount } }

  /// Takes a permit at once; nil if there is none.
  public func takePermit(in context: OperationContext) -> Void? {
    self.queue.withMachine { $0.take() } ? () : nil
  }

  /// Waits for a permit.
  ///
  /// - Throws: ``OperationRejected``; `CancellationError` at once when the task is cancelled.
  public nonisolated(nonsending) func waitForPermit(
    in context: OperationContext,
    maximumWait: OperationDuration?
  ) async throws {
    try await self.queue.decision(in: context, maximumWait: maximumWait).check(
      name: self.name,
      lastFailure: self.lastFailure
    )
  }

  /// Returns a permit, which goes to the run that has waited longest.
  public func returnPermit(_ permit: Void, after use: OperationPermitUse, in context: OperationContext) {
    if case .failed(let error) = use { self.lastFailure.set(error) }
    if self.queue.withMachine({ $0.giveBackUnlessAwaited() }) { return }
    let now = context.elapsed
    self.queue.change { $0.giveBack(at: now) }
  }
}

// MARK: - While it runs

extension ConcurrencyLimit {
  /// Changes the limit while runs are under way and wait.
  ///
  /// Runs that are under way continue. With more permits, waiting runs begin at once. With fewer, no run begins until so
  /// many have ended that fewer than `permits` are under way. Runs that wait stay, also in a queue that is now too long:
  /// new ones are rejected until fewer wait. With another order, waits count from the time at which they began.
  ///
  /// Impossible settings are reported with a warning. Then nothing changes.
  ///
  /// - Parameters:
  ///   - permits: The number of runs that may be under way at once, at least 1; nil to keep it.
  ///   - queue: The number of runs that may wait, at least 0; nil to keep it.
  ///   - order: Which of the waiting runs begins next; nil to keep it.
  ///   - context: A context whose observers receive the notice ``OperationCore/OperationNotice/Name/limitChanged``;
  ///     nil for none.
  /// - Returns: Whether the settings are possible.
  @discardableResult
  public func update(
    permits: Int? = nil,
    queue: Int? = nil,
    order: LimitOrder? = nil,
    in context: OperationContext? = nil
  ) -> Bool {
    let name = self.name ?? "ConcurrencyLimit"
    if OperationWarning.refuses(Self.problem(permits: permits, queue: queue), by: name) { return false }
    // Read before locking, because a source of deadlines is user code.
    let now = context?.elapsed ?? self.queue.withMachine { $0.firstWaiter?.deadlines }?.elapsed ?? .zero
    let (earlier, current) = self.queue.change { machine in
      let earlier = (permits: machine.limit, queue: machine.queue.settings)
      if let queue { machine.queue.maximum = queue }
      if let order, order != machine.queue.order { machine.queue.setOrder(order) }
      machine.setLimit(permits ?? earlier.permits, at: now)
      return (earlier, (permits: machine.limit, queue: machine.queue.settings))
    }
    var change = SettingsChange(of: self.name)
    change.add("limit.value", from: .number(Double(earlier.permits)), to: .number(Double(current.permits)))
    change.addQueue(from: earlier.queue, to: current.queue)
    context?.send(.limitChanged, of: change)
    return true
  }

  /// The numbers of the limit at this moment.
  public func snapshot() -> ConcurrencyLimitSnapshot {
    self.queue.withMachine { machine in
      ConcurrencyLimitSnapshot(
        name: self.name ?? "ConcurrencyLimit",
        permits: machine.limit,
        active: machine.inUse,
        waiting: machine.waiterCount,
        queue: machine.queue.maximum,
        rejections: machine.rejections
      )
    }
  }
}

extension ConcurrencyLimit: CustomStringConvertible {
  /// The name and the current numbers of the limit.
  public var description: String {
    let (active, permits, waiting) = self.queue.withMachine { ($0.inUse, $0.limit, $0.waiterCount) }
    let title = self.name.map { "Concurrency limit \"\($0)\"" } ?? "Concurrency limit"
    return "\(title): \(active) of \(permits) runs under way, \(waiting) waiting"
  }
}
