public import OperationCore

/// Limits how many runs are under way at once.
///
/// ```swift
/// let limit = ConcurrencyLimit(10, queue: 100)
/// let query = PostQuery(id: 1).limited(by: limit, maximumWait: .seconds(2))
/// ```
///
/// Runs beyond the limit wait in the order in which they came, whatever their priorities. A waiting run occupies
/// no thread and no timer of its own.
public final class ConcurrencyLimit: OperationLimit {
  /// The name of the limit in errors, notices and texts; nil without a name.
  public let name: String?

  /// The number of runs that may be under way at once.
  public let permits: Int

  private let queue: LimitQueue<PermitMachine>
  private let lastFailure = LastFailure()

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - permits: The number of runs that may be under way at once, at least 1.
  ///   - queue: The number of runs that may wait, at least 0. Runs beyond it are rejected at once.
  ///   - name: The name of the limit in errors, notices and texts, without user data.
  public init(_ permits: Int, queue: Int = 10_000, name: String? = nil) {
    precondition(permits >= 1, "A concurrency limit of \(permits) would admit no run. Pass at least 1.")
    precondition(queue >= 0, "\(queue) runs cannot wait for a concurrency limit. Pass 0 or more.")
    self.name = name
    self.permits = permits
    self.queue = LimitQueue(PermitMachine(limit: permits, maximumWaiting: queue))
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
    self.queue.change { $0.giveBack() }
  }
}

extension ConcurrencyLimit: CustomStringConvertible {
  /// The name and the current numbers of the limit.
  public var description: String {
    let (active, waiting) = self.queue.withMachine { ($0.inUse, $0.waiterCount) }
    let title = self.name.map { "Concurrency limit \"\($0)\"" } ?? "Concurrency limit"
    return "\(title): \(active) of \(self.permits) runs under way, \(waiting) waiting"
  }
}
