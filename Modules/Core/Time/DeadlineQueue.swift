internal import Synchronization

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// The queue of deadlines that the whole process shares.
///
/// A cancelled deadline leaves nothing behind until its time, unlike a cancelled `Task.sleep`. One timer serves all
/// deadlines. Actions run on a background thread, outside the lock, in the order of their deadlines. Each action delays
/// all later ones, so the queue runs only short actions of the library; user code runs in ``WorkerQueues``.
package final class DeadlineQueue: Sendable {
  package static let shared = DeadlineQueue()

  private struct State: Sendable {
    var heap = DeadlineHeap<Deadline>()
    /// The time at which the timer fires; nil while no timer is set.
    var alarm: ContinuousClock.Instant?
  }

  private let state = Locked(State())
  private let timer = WakeUpTimer()

  /// The number of pending deadlines.
  package var count: Int { self.state.withLock { $0.heap.count } }

  /// Calls `action` once `duration` has passed.
  package func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Deadline {
    let instant = ContinuousClock.now.advanced(by: duration.clampedForClock)
    let deadline = Deadline(instant: instant, action: action)
    self.state.withLock { state in
      state.heap.insert(deadline)
      self.setAlarm(&state)
    }
    return deadline
  }

  /// Removes a deadline. An action that has already started continues.
  package func cancel(_ deadline: Deadline) {
    self.state.withLock { state, released in
      state.heap.remove(deadline)
      self.setAlarm(&state)
      released.append(deadline.action.take())
    }
  }

  private func fire() {
    let now = ContinuousClock.now
    let due = self.state.withLock { state in
      var due: [@Sendable () -> Void] = []
      while let first = state.heap.first, first.instant <= now {
        state.heap.remove(first)
        if let action = first.action { due.append(action) }
        first.action = nil
      }
      state.alarm = nil
      self.setAlarm(&state)
      return due
    }
    for action in due { action() }
  }

  private func setAlarm(_ state: inout State) {
    // A timer that fires too early, or for nothing, costs less than setting it anew at each cancellation: that takes two
    // system calls and wakes a thread, and most time limits are cancelled.
    guard let earliest = state.heap.first?.instant else { return }
    if let alarm = state.alarm, alarm <= earliest { return }
    state.alarm = earliest
    self.timer.start(at: earliest) { [weak self] in self?.fire() }
  }
}

#if canImport(Dispatch)
  /// A system timer that can be rescheduled.
  private final class WakeUpTimer: Sendable {
    private struct State {
      let source: any DispatchSourceTimer = DispatchSource.makeTimerSource(
        queue: DispatchQueue(label: "swift-operation.deadlines")
      )
      var isActive = false
    }

    private let state = Mutex(State())

    deinit {
      // Dispatch traps when a source that was never activated is released, and retains a source that was not cancelled.
      self.state.withLock { state in
        state.source.cancel()
        if !state.isActive { state.source.activate() }
      }
    }

    func start(at instant: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) {
      let (seconds, attoseconds) = ContinuousClock.now.duration(to: instant).clampedForClock.components
      // Rounded up: a timer that fires slightly too early would have to be set again.
      let nanoseconds = Int(attoseconds / 1_000_000_000) + 1
      let deadline = DispatchTime.now() + .seconds(Int(seconds)) + .nanoseconds(nanoseconds)
      self.state.withLock { state in
        if !state.isActive {
          state.source.setEventHandler(handler: action)
          state.source.activate()
          state.isActive = true
        }
        state.source.schedule(deadline: deadline)
      }
    }
  }
#else
  /// A timer made of sleeping tasks, for systems without Dispatch.
  ///
  /// When it is rescheduled, the earlier task continues to sleep, and its wake-up has no effect.
  private final class WakeUpTimer: Sendable {
    func start(at instant: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) {
      Task {
        if (try? await Task.sleep(until: instant, clock: .continuous)) != nil { action() }
      }
    }
  }
#endif
