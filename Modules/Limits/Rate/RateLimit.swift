public import OperationCore

/// Limits how many runs begin in a period.
///
/// ```swift
/// let limit = RateLimit(100, per: .seconds(60), burst: 10)
/// let query = PostQuery(id: 1).limited(by: limit)
/// ```
///
/// It is a token bucket that holds `burst` permits and gains `count` in each period, evenly. It needs no timer: the
/// *generic cell rate algorithm* of ITU-T I.371 computes the permits from the time of the last run. It uses integers,
/// so no part of a permit is lost by rounding.
///
/// Runs beyond the rate wait in the order in which they came, whatever their priorities. One timer serves all of them.
/// A run whose turn would come after its longest wait is rejected at once, with the time until its turn.
///
/// Time comes from the deadlines in each run's context, and is monotonic: a system clock that is set has no
/// effect. All operations that share a limit must use the same deadlines.
public final class RateLimit: OperationLimit {
  /// The name of the limit in errors, notices and texts; nil without a name.
  public let name: String?

  /// The number of runs that may begin in a period.
  public let count: Int

  /// The length of the period.
  public let period: OperationDuration

  /// The number of runs that may begin at once after a pause.
  public let burst: Int

  private let queue: LimitQueue<RateMachine>
  private let lastFailure = LastFailure()

  /// Creates a limit with a full bucket.
  ///
  /// - Parameters:
  ///   - count: The number of runs that may begin in a period, from 1 to a billion.
  ///   - period: The length of the period: positive, and at most a hundred years.
  ///   - burst: The number of runs that may begin at once after a pause, from 1 to a billion; `count` by default.
  ///   - name: The name of the limit in errors, notices and texts, without user data.
  public init(_ count: Int, per period: OperationDuration, burst: Int? = nil, name: String? = nil) {
    let burst = burst ?? count
    precondition(
      (1...1_000_000_000).contains(count),
      "A rate limit cannot admit \(count) runs. Pass 1 to 1,000,000,000."
    )
    precondition(
      period > .zero && period <= period.clampedForClock,
      "A rate limit cannot count runs for \(period). Pass a positive duration of at most a hundred years."
    )
    precondition(
      (1...1_000_000_000).contains(burst),
      "A rate limit cannot admit a burst of \(burst) runs. Pass 1 to 1,000,000,000."
    )
    self.name = name
    self.count = count
    self.period = period
    self.burst = burst
    self.queue = LimitQueue(RateMachine(count: count, period: period, burst: burst))
  }

  /// The number of runs that wait.
  public var waitingCount: Int { self.queue.withMachine { $0.waiterCount } }

  /// Takes a permit at once; nil if there is none, or earlier runs wait for it.
  public func takePermit(in context: OperationContext) -> Void? {
    let now = context.elapsed
    return self.queue.withMachine { $0.take(at: now) } ? () : nil
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

  /// Does nothing for a run that has begun. An unused permit goes to the run that has waited longest.
  @inlinable
  public func returnPermit(_ permit: Void, after use: OperationPermitUse, in context: OperationContext) {
    switch use {
    case .succeeded, .cancelled: return
    case .failed(let error): self.note(error)
    case .unused: self.giveBack(in: context)
    }
  }

  @usableFromInline
  func note(_ failure: any Error) {
    self.lastFailure.set(failure)
  }

  @usableFromInline
  func giveBack(in context: OperationContext) {
    let now = context.elapsed
    self.queue.change { $0.giveBack(at: now) }
  }
}

extension RateLimit: CustomStringConvertible {
  /// The name, the rate and the current number of waiting runs.
  public var description: String {
    let title = self.name.map { "Rate limit \"\($0)\"" } ?? "Rate limit"
    return "\(title): \(self.count) runs per \(self.period.roundedText), \(self.waitingCount) waiting"
  }
}
