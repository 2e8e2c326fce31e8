internal import Synchronization

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// The queue of deadlines that the whole process shares.
///
/// A cancelled deadline leaves nothing behind until its time, unlike a cancelled `Task.sleep`. One timer serves all
/// deadlines. Actions run on a background thread, outside the lock, in the order of their deadlines. Each action delays
/// all later ones, so the queue runs only short actions of the library; user code runs in ``WorkerQueues``.
final class DeadlineQueue: Sendable {
  static let shared = DeadlineQueue()

  private struct State: Sendable {
    var heap = DeadlineHeap<Deadline>()
    /// The time at which the timer fires; nil while no timer is set.
    var alarm: ContinuousClock.Instant?
  }

  private let state = Locked(State())
  private let timer = WakeUpTimer()

  /// The number of pending deadlines.
  var count: Int { self.state.withLock { $0.heap.count } }

  /// Calls `action` once `duration` has passed, on the thread of the queue.
  func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Deadline {
    let instant = ContinuousClock.now.advanced(by: duration.clampedForClock)
    return self.schedule(at: instant, onWorker: false, action)
  }

  /// Calls `action` once `instant` has come.
  ///
  /// - Parameters:
  ///   - instant: The instant.
  ///   - isOnWorker: Whether the action, which may take long, is called by ``WorkerQueues``.
  ///   - action: The action.
  /// - Returns: The deadline, for its cancellation.
  func schedule(
    at instant: ContinuousClock.Instant,
    onWorker isOnWorker: Bool,
    _ action: @escaping @Sendable () -> Void
  ) -> Deadline {
    let deadline = Deadline(instant: instant, callsOnWorker: isOnWorker, action: action)
    self.state.withLock { state in
      state.heap.insert(deadline)
      self.setAlarm(&state)
    }
    return deadline
  }

  /// Removes a deadline, and releases its action. An action that has already started continues.
  func cancel(_ deadline: Deadline) {
    // The alarm stays as it is: see `setAlarm`.
    let action = self.state.withLock { state in
      state.heap.remove(deadline)
      return deadline.action.take()
    }
    _ = consume action  // Released after unlocking: it may own objects of users.
  }

  private func fire() {
    let now = ContinuousClock.now
    let due = self.state.withLock { state in
      var due: [Deadline] = []
      while let first = state.heap.first, first.instant <= now {
        state.heap.remove(first)
        due.append(first)
      }
      state.alarm = nil
      self.setAlarm(&state)
      return due
    }
    for deadline in due {
      if deadline.callsOnWorker {
        // It can be cancelled until it begins there.
        WorkerQueues.shared.perform { self.takeAction(of: deadline)?.call() }
      } else {
        self.takeAction(of: deadline)?.call()
      }
    }
  }

  private func takeAction(of deadline: Deadline) -> Deadline.Action? {
    self.state.withLock { _ in deadline.action.take() }
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
