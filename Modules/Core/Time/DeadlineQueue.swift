internal import Synchronization

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// The one queue of deadlines of the process.
///
/// A cancelled deadline leaves nothing behind, which a cancelled `Task.sleep` would until its time; and the one timer
/// below serves them all. Actions run on a background thread, outside the lock, in the order of their deadlines. They are the
/// library's own and at once over, as all other deadlines wait for them: foreign code runs in ``WorkerQueues``.
package final class DeadlineQueue: Sendable {
  package static let shared = DeadlineQueue()

  private struct State: Sendable {
    var heap = DeadlineHeap()
    /// When the timer will fire; nil while it is off.
    var alarm: ContinuousClock.Instant?
  }

  private let state = Locked(State())
  private let timer = WakeUpTimer()

  /// The number of deadlines that wait.
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

  /// Takes a deadline out. When its action has begun it goes on.
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
    guard let earliest = state.heap.first?.instant else {
      if state.alarm != nil { self.timer.stop() }
      state.alarm = nil
      return
    }
    // A timer that is early fires for nothing and is set anew, which is cheaper than moving it at each cancellation.
    if let alarm = state.alarm, alarm <= earliest { return }
    state.alarm = earliest
    self.timer.start(at: earliest) { [weak self] in self?.fire() }
  }
}

#if canImport(Dispatch)
  /// One timer of the system that can be moved at will.
  private final class WakeUpTimer: Sendable {
    // Unsafe only in name: Dispatch objects may be used from any thread, and this one is not yet annotated so.
    nonisolated(unsafe) private let source: any DispatchSourceTimer = DispatchSource.makeTimerSource(
      queue: DispatchQueue(label: "swift-operation.deadlines")
    )
    private let isActive = Mutex(false)

    deinit {
      // Dispatch traps when a source goes that was never activated, and keeps one that was not cancelled.
      self.source.cancel()
      if !self.isActive.withLock({ $0 }) { self.source.activate() }
    }

    func start(at instant: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) {
      let (seconds, attoseconds) = ContinuousClock.now.duration(to: instant).clampedForClock.components
      // Rounded up, so that the timer does not fire just before its time and have to be set again.
      let nanoseconds = Int(attoseconds / 1_000_000_000) + 1
      let deadline = DispatchTime.now() + .seconds(Int(seconds)) + .nanoseconds(nanoseconds)
      self.isActive.withLock { isActive in
        if !isActive {
          self.source.setEventHandler(handler: action)
          self.source.activate()
          isActive = true
        }
        self.source.schedule(deadline: deadline)
      }
    }

    func stop() {
      self.source.schedule(deadline: .distantFuture)
    }
  }
#else
  /// A timer out of sleeping tasks, for systems without Dispatch; one that is moved sleeps on and wakes for nothing.
  private final class WakeUpTimer: Sendable {
    func start(at instant: ContinuousClock.Instant, _ action: @escaping @Sendable () -> Void) {
      Task {
        if (try? await Task.sleep(until: instant, clock: .continuous)) != nil { action() }
      }
    }

    func stop() {}
  }
#endif
