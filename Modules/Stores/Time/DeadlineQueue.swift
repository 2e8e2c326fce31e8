/// The queue of deadlines that the whole process shares.
///
/// A cancelled deadline leaves nothing behind until its time, unlike a cancelled `Task.sleep`. One timer serves all
/// deadlines. Actions run on a background thread, outside the lock, in the order of their deadlines. Each action delays
/// all later ones, so the queue runs only short actions of the library; user code runs in ``WorkerQueues``.
///
/// After a sleep of the machine, what is overdue fires at once; where that is much, over a second: see
/// ``DeadlineBacklog``.
final class DeadlineQueue: Sendable {
  static let shared = DeadlineQueue(SystemDeadlineAlarm())

  private struct State: Sendable {
    var heap = DeadlineHeap<Deadline>()
    var backlog = DeadlineBacklog()
    /// What the timer is set for; nil while no timer is set.
    var setting: Setting?

    /// When the queue has to fire next; nil while it is empty.
    var next: ContinuousClock.Instant? {
      guard let instant = self.heap.first?.instant else { return self.backlog.next }
      return self.backlog.next.map { min($0, instant) } ?? instant
    }
  }

  /// What the timer is set for.
  private struct Setting: Sendable {
    let instant: ContinuousClock.Instant
    /// From when on the timer counts as one that stood still: those of some systems do while the machine sleeps.
    let missed: ContinuousClock.Instant
  }

  private let state = Locked(State())
  private let alarm: any DeadlineAlarm

  init(_ alarm: any DeadlineAlarm) {
    self.alarm = alarm
  }

  /// The number of pending deadlines.
  var count: Int { self.state.withLock { $0.heap.count + $0.backlog.count } }

  /// Calls `action` once `duration` has passed, on the thread of the queue.
  func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> Deadline {
    let now = self.alarm.now
    return self.schedule(at: now.advanced(by: duration.clampedForClock), now: now, onWorker: false, action)
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
    self.schedule(at: instant, now: self.alarm.now, onWorker: isOnWorker, action)
  }

  private func schedule(
    at instant: ContinuousClock.Instant,
    now: ContinuousClock.Instant,
    onWorker isOnWorker: Bool,
    _ action: @escaping @Sendable () -> Void
  ) -> Deadline {
    let deadline = Deadline(instant: instant, callsOnWorker: isOnWorker, action: action)
    self.state.withLock { state in
      state.heap.insert(deadline)
      self.setAlarm(&state, now: now)
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

  /// Fires what has become due while the timer stood still.
  func noteWakeUp() {
    let now = self.alarm.now
    self.state.withLock { self.setAlarm(&$0, now: now) }
  }

  private func fire() {
    let now = self.alarm.now
    let due = self.state.withLock { state in
      var due: [Deadline] = []
      while let first = state.heap.first, first.instant <= now {
        state.heap.remove(first)
        due.append(first)
      }
      state.backlog.spread(&due, now: now)
      state.setting = nil
      self.setAlarm(&state, now: now)
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

  private func setAlarm(_ state: inout State, now: ContinuousClock.Instant) {
    // A timer that fires too early, or for nothing, costs less than setting it anew at each cancellation: that takes two
    // system calls and wakes a thread, and most time limits are cancelled.
    guard let next = state.next else { return }
    if let setting = state.setting, setting.instant <= next, now < setting.missed { return }
    // What is due already fires as soon as the thread runs, which is given time for that.
    state.setting = Setting(instant: next, missed: next > now ? next : now.advanced(by: .milliseconds(10)))
    self.alarm.set(for: next) { [weak self] in self?.fire() }
  }
}
