internal import Synchronization

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// The clock of a ``DeadlineQueue``, and the one timer that wakes it up.
protocol DeadlineAlarm: Sendable {
  /// The current instant, by a clock that counts the time that the machine sleeps.
  var now: ContinuousClock.Instant { get }

  /// Calls `action` once `instant` has come, in place of the instant that was set before. It may call it at other times,
  /// too, but never twice at once.
  func set(for instant: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void)
}

#if canImport(Dispatch)
  /// The system's clock, and timers that can be set again.
  final class SystemDeadlineAlarm: DeadlineAlarm {
    private struct State {
      let queue: DispatchQueue
      /// Its clock stands still while the machine sleeps.
      let awake: any DispatchSourceTimer
      /// Its clock counts the time that the machine sleeps, and may be set.
      let wall: any DispatchSourceTimer
      var isActive = false

      init() {
        let queue = DispatchQueue(label: "swift-operation.deadlines")
        self.queue = queue
        self.awake = DispatchSource.makeTimerSource(queue: queue)
        self.wall = DispatchSource.makeTimerSource(queue: queue)
      }
    }

    private let state = Mutex(State())

    /// The longest wait that counts by the awake clock alone: a sleep can make it twice as long.
    private static let shortWait = Duration.seconds(1)

    deinit {
      // Dispatch traps when a source that was never activated is released, and retains a source that was not cancelled.
      self.state.withLock { state in
        state.awake.cancel()
        state.wall.cancel()
        guard !state.isActive else { return }
        state.awake.activate()
        state.wall.activate()
      }
    }

    var now: ContinuousClock.Instant { .now }

    func set(for instant: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) {
      let wait = ContinuousClock.now.duration(to: instant).clampedForClock
      let (seconds, attoseconds) = wait.components
      // Rounded up: a timer that fires slightly too early would have to be set again.
      let nanoseconds = Int(attoseconds / 1_000_000_000) + 1
      self.state.withLock { state in
        if !state.isActive {
          state.awake.setEventHandler(handler: action)
          state.wall.setEventHandler(handler: action)
          state.awake.activate()
          state.wall.activate()
          state.isActive = true
        }
        state.awake.schedule(deadline: .now() + .seconds(Int(seconds)) + .nanoseconds(nanoseconds))
        guard wait > Self.shortWait else { return }
        state.wall.schedule(wallDeadline: .now() + .seconds(Int(seconds)) + .nanoseconds(nanoseconds))
      }
    }
  }
#else
  /// The system's clock, and a timer made of sleeping tasks, for systems without Dispatch.
  ///
  /// When it is set again, the earlier task continues to sleep, and its wake-up has no effect.
  final class SystemDeadlineAlarm: DeadlineAlarm {
    var now: ContinuousClock.Instant { .now }

    func set(for instant: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) {
      Task {
        if (try? await Task.sleep(until: instant, clock: .continuous)) != nil { action() }
      }
    }
  }
#endif
