public import OperationCore
public import OperationFoundation
internal import Synchronization

/// A clock that a test advances: one source for dates, delays and deadlines.
///
/// ```swift
/// let clock = ManualClock()
/// let store = OperationStore.detached(query: query.retry(limit: 1).manualTime(clock))
/// let fetch = Task { try await store.fetch() }
/// try await clock.sleepers(count: 1)  // The retry waits.
/// clock.advance(by: .seconds(1))
/// let value = try await fetch.value
/// ```
///
/// Time passes only when the clock is advanced. A task or callback that waits for the clock is a sleeper until its time
/// has come or it is cancelled. A callback with a delay of zero is called at once, before `schedule` returns.
public final class ManualClock: Sendable {
  struct State: Sendable {
    var elapsed = Duration.zero
    /// The date at an elapsed time of zero.
    var origin: Date
    /// The instant at an elapsed time of zero; nil until an instant is requested.
    var firstInstant: ContinuousClock.Instant?
    /// In the order in which they are woken.
    var sleepers: [Sleeper] = []
    var delays: [Duration] = []
    var lastNumber: UInt64 = 0
  }

  struct Sleeper: Sendable {
    /// Increases with each sleeper.
    let number: UInt64
    let due: Duration
    let kind: SleeperKind
    let action: @Sendable () -> Void
  }

  let state: AwaitableState<State>

  /// Creates a clock.
  ///
  /// - Parameter date: The initial date, by default the beginning of 2001.
  public init(date: Date = Date(timeIntervalSinceReferenceDate: 0)) {
    self.state = AwaitableState(State(origin: date))
  }
}

extension ManualClock: OperationClock {
  /// The current date of the clock.
  public func now() -> Date {
    let state = self.state.current
    return state.origin + state.elapsed.timeInterval
  }

  /// Sets the date of the clock, as an administrator does: no time passes, and no sleeper is woken.
  public func setDate(_ date: Date) {
    self.state.change { $0.origin = date - $0.elapsed.timeInterval }
  }
}

extension ManualClock: DeadlineSource {
  /// The time that has passed since the clock was created.
  public var elapsed: Duration { self.state.current.elapsed }

  /// The current instant of the clock: `clock.instant + .seconds(10)` is ten seconds of this clock away.
  ///
  /// The first request ties the clock to `ContinuousClock.now`. Later instants depend only on ``advance(by:)``.
  public var instant: ContinuousClock.Instant {
    let now = ContinuousClock.now
    return self.state.change { state in
      let first = state.firstInstant ?? now.advanced(by: .zero - state.elapsed)
      state.firstInstant = first
      return first.advanced(by: state.elapsed)
    }
  }

  /// Calls `action` when the clock is advanced to its time, on the thread that advances it.
  public func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.schedule(after: duration, kind: .deadline, action)
  }

  func schedule(
    after duration: Duration,
    kind: SleeperKind,
    _ action: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    let key: (due: Duration, number: UInt64)? = self.state.change { state in
      if kind == .delay { state.delays.append(duration) }
      guard duration > .zero else { return nil }
      state.lastNumber += 1
      let due = state.elapsed.saturatingAdding(duration)
      let sleeper = Sleeper(number: state.lastNumber, due: due, kind: kind, action: action)
      state.sleepers.insert(sleeper, at: state.position(due, state.lastNumber))
      return (due, state.lastNumber)
    }
    guard let (due, number) = key else {
      action()
      return .empty
    }
    return OperationSubscription { [state] in
      // Returned so that the captured values of the action are released after unlocking.
      _ = state.change { state -> Sleeper? in
        let index = state.position(due, number)
        guard index < state.sleepers.count, state.sleepers[index].number == number else { return nil }
        return state.sleepers.remove(at: index)
      }
    }
  }
}

// MARK: - Advancing

extension ManualClock {
  /// Advances the clock, and wakes the sleepers whose time comes, ordered by deadline, then by arrival.
  ///
  /// Each sleeper is woken with the clock at its own deadline. A sleeper that sleeps again at once is woken again if
  /// the new deadline is within the span. A woken task continues by itself: before you advance further, wait for its
  /// next step, for example with ``sleepers(count:_:within:sourceLocation:)``.
  ///
  /// - Parameter duration: The time to pass; a negative duration counts as zero.
  public func advance(by duration: Duration) {
    let start = self.state.current.elapsed
    self.advance(to: start.saturatingAdding(max(duration, .zero)))
  }

  /// Advances the clock to the earliest deadline, and wakes all sleepers with that deadline.
  ///
  /// - Returns: The time that has passed, or nil without sleepers.
  @discardableResult
  public func advanceToNextSleeper() -> Duration? {
    let (start, next) = self.state.change { state in (state.elapsed, state.sleepers.first?.due) }
    guard let next else { return nil }
    self.advance(to: next)
    return next - start
  }

  private func advance(to target: Duration) {
    while true {
      let action: (@Sendable () -> Void)? = self.state.change { state in
        guard let first = state.sleepers.first, first.due <= target else {
          state.elapsed = max(state.elapsed, target)
          return nil
        }
        let sleeper = state.sleepers.removeFirst()
        state.elapsed = max(state.elapsed, sleeper.due)
        return sleeper.action
      }
      guard let action else { return }
      action()
    }
  }
}

extension ManualClock.State {
  /// The index of the sleeper that is due at a time and has a number; if there is none, the index for it.
  fileprivate func position(_ due: Duration, _ number: UInt64) -> Int {
    var (lower, upper) = (0, self.sleepers.count)
    while lower < upper {
      let middle = (lower + upper) / 2
      let other = self.sleepers[middle]
      if other.due < due || other.due == due && other.number < number { lower = middle + 1 } else { upper = middle }
    }
    return lower
  }
}

extension Duration {
  /// The sum, or the longest duration if the sum is too large.
  fileprivate func saturatingAdding(_ other: Duration) -> Duration {
    let longest = Duration.seconds(Int64.max)
    return other > longest - self ? longest : self + other
  }

  fileprivate var timeInterval: TimeInterval { self / .seconds(1) }
}
