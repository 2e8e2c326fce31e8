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
/// Runs beyond the rate wait. Those with a higher ``/OperationCore/OperationContext/operationCriticality`` begin first, and
/// others in the order in which they came, whatever the priorities of their tasks. One timer serves all of them. A run
/// whose turn would come after its longest wait is rejected at once, with the time until its turn, and so is one that
/// finds the queue full of runs that matter at least as much.
///
/// ``update(_:per:burst:queue:in:)`` changes the rate while it runs, and ``snapshot(in:)`` shows its numbers.
///
/// Time comes from the deadlines in each run's context, and is monotonic: a system clock that is set has no
/// effect. All operations that share a limit must use the same deadlines.
public final class RateLimit: OperationLimit {
  /// False: what counts is when a run begins, and not for how long its work goes on.
  public static var countsWork: Bool { false }

  /// The place of a run among those that the limit has admitted.
  public struct Permit: Sendable {
    let number: UInt64
  }

  /// The name of the limit in errors, notices and texts; nil without a name.
  public let name: String?

  /// The number of runs that may begin in a period.
  public var count: Int { self.queue.withMachine { Int($0.count) } }

  /// The length of the period.
  public var period: OperationDuration { self.queue.withMachine { $0.period } }

  /// The number of runs that may begin at once after a pause.
  public var burst: Int { self.queue.withMachine { $0.burst } }

  private let queue: LimitQueue<RateMachine>
  private let lastFailure = LastFailure()

  /// Creates a limit with a full bucket.
  ///
  /// - Parameters:
  ///   - count: The number of runs that may begin in a period, from 1 to a billion.
  ///   - period: The length of the period: positive, and at most a hundred years.
  ///   - burst: The number of runs that may begin at once after a pause, from 1 to a billion; `count` by default.
  ///   - queue: The number of runs that may wait, at least 0. Runs beyond it are rejected at once.
  ///   - name: The name of the limit in errors, notices and texts, without user data.
  public init(
    _ count: Int,
    per period: OperationDuration,
    burst: Int? = nil,
    queue: Int = 10_000,
    name: String? = nil
  ) {
    let burst = burst ?? count
    let problem = Self.problem(count, period, burst, queue)
    precondition(problem == nil, problem ?? "")
    self.name = name
    self.queue = LimitQueue(RateMachine(count: count, period: period, burst: burst, maximumWaiting: queue))
  }

  private static func problem(_ count: Int?, _ period: Duration?, _ burst: Int?, _ queue: Int?) -> String? {
    if let count, !(1...1_000_000_000).contains(count) {
      return "A rate limit cannot admit \(count) runs. Pass 1 to 1,000,000,000."
    }
    if let period, period <= .zero || period > period.clampedForClock {
      return "A rate limit cannot count runs for \(period). Pass a positive duration of at most a hundred years."
    }
    if let burst, !(1...1_000_000_000).contains(burst) {
      return "A rate limit cannot admit a burst of \(burst) runs. Pass 1 to 1,000,000,000."
    }
    if let queue, queue < 0 { return "\(queue) runs cannot wait for a rate limit. Pass 0 or more." }
    return nil
  }

  /// The number of runs that wait.
  public var waitingCount: Int { self.queue.withMachine { $0.waiterCount } }

  /// Takes a permit at once; nil if there is none, or earlier runs wait for it.
  @discardableResult
  public func takePermit(in context: OperationContext) -> Permit? {
    let now = context.elapsed
    return self.queue.withMachine { machine in
      if machine.taken == 0 { machine.noteDeadlines(context.operationDeadlines) }
      return machine.take(at: now) ? Permit(number: machine.taken) : nil
    }
  }

  /// Waits for a permit.
  ///
  /// - Throws: ``OperationRejected``; `CancellationError` at once when the task is cancelled.
  @discardableResult
  public nonisolated(nonsending) func waitForPermit(
    in context: OperationContext,
    maximumWait: OperationDuration?
  ) async throws -> Permit {
    let now = context.elapsed
    let waiter = LimitWaiter(in: context, at: now, maximumWait: maximumWait)
    try await self.queue.decision(about: waiter) { machine, waiter in
      if machine.taken == 0 { machine.noteDeadlines(waiter.deadlines) }
      return machine.join(waiter, at: now)
    }
    .check(name: self.name, lastFailure: self.lastFailure)
    return Permit(number: waiter.permit)
  }

  /// Does nothing for a run that has begun. An unused permit goes to the run that has waited longest.
  ///
  /// A permit that comes back after others were taken with a full bucket is lost, as the bucket had no room for it: within
  /// any time no more runs begin than `burst` and what comes in that time.
  @inlinable
  public func returnPermit(_ permit: Permit, after use: OperationPermitUse, in context: OperationContext) {
    switch use {
    case .succeeded, .cancelled: return
    case .failed(let error): self.note(error)
    case .unused: self.giveBack(permit, in: context)
    }
  }

  @usableFromInline
  func note(_ failure: any Error) {
    self.lastFailure.set(failure)
  }

  @usableFromInline
  func giveBack(_ permit: Permit, in context: OperationContext) {
    let now = context.elapsed
    self.queue.change { $0.giveBack(permit.number, at: now) }
  }
}

// MARK: - While it runs

extension RateLimit {
  /// Changes the rate while runs wait.
  ///
  /// The permits that are missing from the bucket stay missing, and come back at the new rate. So neither a permit that was
  /// taken is taken back, nor one is made. A higher `burst` adds its permits to the bucket at once. Waiting runs stay, and
  /// begin when their turn comes at the new rate, or are rejected at their longest wait. In a queue that is now too long,
  /// new runs are rejected until fewer wait.
  ///
  /// Impossible settings are reported with a warning. Then nothing changes.
  ///
  /// - Parameters:
  ///   - count: The number of runs that may begin in a period, from 1 to a billion; nil to keep it.
  ///   - period: The length of the period: positive, and at most a hundred years; nil to keep it.
  ///   - burst: The number of runs that may begin at once after a pause, from 1 to a billion; nil to keep it.
  ///   - queue: The number of runs that may wait, at least 0; nil to keep it.
  ///   - context: A context whose deadlines give the time until which permits come at the old rate, and whose observers
  ///     receive the notice ``OperationCore/OperationNotice/Name/limitChanged``. With nil it is the present time of the
  ///     deadlines of the first run.
  /// - Returns: Whether the settings are possible.
  @discardableResult
  public func update(
    _ count: Int? = nil,
    per period: OperationDuration? = nil,
    burst: Int? = nil,
    queue: Int? = nil,
    in context: OperationContext? = nil
  ) -> Bool {
    let name = self.name ?? "RateLimit"
    if OperationWarning.refuses(Self.problem(count, period, burst, queue), by: name) { return false }
    let now = self.elapsed(in: context)
    let (earlier, current) = self.queue.change { machine in
      let earlier = machine.settings
      if let queue { machine.queue.maximum = queue }
      machine.setRate(
        count: count ?? Int(machine.count),
        period: period ?? machine.period,
        burst: burst ?? machine.burst,
        at: now
      )
      return (earlier, machine.settings)
    }
    var change = SettingsChange(of: self.name)
    change.add("limit.value", from: .number(earlier.ratePerSecond), to: .number(current.ratePerSecond))
    change.add("limit.period", from: .duration(earlier.period), to: .duration(current.period))
    change.add("limit.burst", from: .integer(earlier.burst), to: .integer(current.burst))
    change.addQueue(from: earlier.queue, to: current.queue)
    context?.send(.limitChanged, of: change)
    return true
  }

  /// The numbers of the limit at this moment.
  ///
  /// - Parameter context: A context whose deadlines give the time; nil for those of the first run.
  /// - Returns: The numbers.
  public func snapshot(in context: OperationContext? = nil) -> RateLimitSnapshot {
    let now = self.elapsed(in: context)
    return self.queue.withMachine { machine in
      RateLimitSnapshot(
        name: self.name ?? "RateLimit",
        count: Int(machine.count),
        periodSeconds: machine.period.seconds,
        burst: machine.burst,
        available: max(machine.burst - machine.missing(at: now), 0),
        waiting: machine.waiterCount,
        queue: machine.queue.maximum,
        rejections: machine.rejections
      )
    }
  }
}

extension RateLimit {
  /// The elapsed time of a context, or else of the first run; nil if there was none.
  private func elapsed(in context: OperationContext?) -> Duration? {
    // Read without the lock, because a source of deadlines is user code.
    context?.elapsed ?? self.queue.withMachine { $0.deadlines }?.elapsed.clampedForClock
  }
}

extension RateLimit: CustomStringConvertible {
  /// The name, the rate and the current number of waiting runs.
  public var description: String {
    let title = self.name.map { "Rate limit \"\($0)\"" } ?? "Rate limit"
    return "\(title): \(self.count) runs per \(self.period.roundedText), \(self.waitingCount) waiting"
  }
}
