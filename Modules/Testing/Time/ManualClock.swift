public import FoundationEssentials
public import OperationCore
internal import Synchronization

/// Time that passes when a test says so: one source for dates, delays and deadlines.
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
/// The clock stands still between two advances. Who asks to sleep is a sleeper until its time has come or it is cancelled;
/// whoever asks for no time at all is called before the asking returns.
public final class ManualClock: Sendable {
  struct State: Sendable {
    var elapsed = Duration.zero
    /// The date when no time had elapsed.
    var origin: Date
    var sleepers: [Sleeping] = []
    var delays: [Duration] = []
    var lastNumber: UInt64 = 0
  }

  struct Sleeping: Sendable {
    /// In the order in which they came.
    let number: UInt64
    let due: Duration
    let kind: SleeperKind
    let action: @Sendable () -> Void
  }

  let room: WaitingRoom<State>

  /// Creates a clock.
  ///
  /// - Parameter date: The date that the clock shows first: the beginning of 2001 unless you name another.
  public init(date: Date = Date(timeIntervalSinceReferenceDate: 0)) {
    self.room = WaitingRoom(State(origin: date))
  }
}

extension ManualClock: OperationClock {
  /// The date that the clock shows.
  public func now() -> Date {
    let state = self.room.state
    return state.origin + state.elapsed.timeInterval
  }

  /// Sets the date that the clock shows, as an administrator would: no time passes, and nobody is woken.
  public func setDate(_ date: Date) {
    self.room.change { $0.origin = date - $0.elapsed.timeInterval }
  }
}

extension ManualClock: DeadlineSource {
  /// The time that has passed since the clock was made.
  public var elapsed: Duration { self.room.state.elapsed }

  /// Calls `action` when an advance of the clock reaches its time, on the thread that advances.
  public func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.schedule(after: duration, kind: .deadline, action)
  }

  func schedule(
    after duration: Duration,
    kind: SleeperKind,
    _ action: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    let number: UInt64? = self.room.change { state in
      if kind == .delay { state.delays.append(duration) }
      guard duration > .zero else { return nil }
      state.lastNumber += 1
      let due = state.elapsed.saturatingAdding(duration)
      state.sleepers.append(Sleeping(number: state.lastNumber, due: due, kind: kind, action: action))
      return state.lastNumber
    }
    guard let number else {
      action()
      return .empty
    }
    return OperationSubscription { [room] in
      // Returned so that what the action captures is released after the lock.
      _ = room.change { state -> Sleeping? in
        guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else { return nil }
        return state.sleepers.remove(at: index)
      }
    }
  }
}

// MARK: - Letting time pass

extension ManualClock {
  /// Lets time pass, and wakes those whose time comes, in order: by their deadline, then as they came.
  ///
  /// Each is woken with the clock at its own deadline, and one who then asks at once to sleep again is woken again if that
  /// falls within the span. A task that is woken goes on by itself: before you advance further, wait for what it does next,
  /// such as ``sleepers(count:_:within:sourceLocation:)``.
  ///
  /// - Parameter duration: How much time passes; a negative one counts as none.
  public func advance(by duration: Duration) {
    let start = self.room.state.elapsed
    self.advance(to: start.saturatingAdding(max(duration, .zero)))
  }

  /// Lets the time pass that is left to the earliest deadline, and wakes all whose time that is.
  ///
  /// - Returns: How much time has passed, or nil when nobody sleeps.
  @discardableResult
  public func advanceToNextSleeper() -> Duration? {
    let (start, next) = self.room.change { state in (state.elapsed, state.sleepers.map(\.due).min()) }
    guard let next else { return nil }
    self.advance(to: next)
    return next - start
  }

  private func advance(to target: Duration) {
    while true {
      let action: (@Sendable () -> Void)? = self.room.change { state in
        guard let index = state.earliest, state.sleepers[index].due <= target else {
          state.elapsed = max(state.elapsed, target)
          return nil
        }
        let sleeper = state.sleepers.remove(at: index)
        state.elapsed = max(state.elapsed, sleeper.due)
        return sleeper.action
      }
      guard let action else { return }
      action()
    }
  }
}

extension ManualClock.State {
  /// Where the sleeper is that is to be woken first.
  fileprivate var earliest: Int? {
    self.sleepers.indices.min { first, second in
      let (first, second) = (self.sleepers[first], self.sleepers[second])
      return (first.due, first.number) < (second.due, second.number)
    }
  }
}

extension Duration {
  /// The sum, or the longest duration there is.
  fileprivate func saturatingAdding(_ other: Duration) -> Duration {
    let longest = Duration.seconds(Int64.max)
    return other > longest - self ? longest : self + other
  }

  fileprivate var timeInterval: TimeInterval { self / .seconds(1) }
}
