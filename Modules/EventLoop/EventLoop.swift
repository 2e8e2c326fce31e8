#if os(Linux)
  internal import OperationCore

  /// Calls back when descriptors become ready and when timers fire.
  ///
  /// One thread waits for all registrations in `poll`. It starts with the first registration and ends with the last
  /// one, so a loop without registrations uses no resources. The thread sleeps until an event arrives.
  ///
  /// Callbacks run on that thread, one after the other, and without a lock: they may register and cancel. They must be
  /// short, because all other callbacks wait for them. All signals are blocked on the thread.
  package final class EventLoop: Sendable {
    /// The loop of the process.
    package static let shared = EventLoop()

    struct State {
      /// The number of registrations that have not ended.
      var count = 0
      var table = PollTable()
      var timers = DeadlineHeap<Entry>()
      var lastNumber: UInt64 = 0
      /// The current thread; nil without one.
      var runner: Runner?
      /// The registration whose callback is running.
      var running: Entry?
      /// The latches to open when the running callback has returned.
      var latches: [Latch] = []
      /// How many attempts to start the thread have failed in a row.
      var failureCount = 0
    }

    let state = Locked(State())
    private let restart: Alarm
    private let openPipe: @Sendable () throws(SystemFailure) -> WakePipe

    /// Creates a separate loop, which has a thread while it has registrations.
    package convenience init() {
      self.init(deadlines: ThreadDeadlines()) { () throws(SystemFailure) in try WakePipe() }
    }

    /// - Parameters:
    ///   - deadlines: The timer for the next attempt to start the thread after a failure.
    ///   - openPipe: Makes the pipe that wakes the thread.
    init(deadlines: any DeadlineSource, openPipe: @escaping @Sendable () throws(SystemFailure) -> WakePipe) {
      self.restart = Alarm(deadlines)
      self.openPipe = openPipe
    }

    /// Whether the thread exists.
    package var isRunning: Bool { self.state.withLock { $0.runner != nil } }
  }

  // MARK: - Registering

  extension EventLoop {
    /// Calls `onEvent` whenever one of `events` holds for a descriptor.
    ///
    /// Errors, hang-ups and invalid descriptors are always reported. A condition that the callback does not clear, such
    /// as unread bytes, is reported again at once. An invalid descriptor is reported once and then ignored. The caller
    /// owns the descriptor, and closes it after cancelling.
    package func watch(
      _ descriptor: CInt,
      for events: Events,
      onEvent: @escaping @Sendable (Events) -> Void
    ) -> Registration {
      precondition(descriptor >= 0, "A descriptor is not negative (\(descriptor)).")
      return self.add(Entry(.descriptor(descriptor, events), onEvent))
    }

    /// Calls `body` once, when `delay` has passed.
    package func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> Registration {
      self.add(Entry(.timer(after: delay, every: nil)) { _ in body() })
    }

    /// Calls `body` repeatedly, each time after `interval`.
    ///
    /// If several intervals pass while the thread is busy or the machine sleeps, `body` is called once. An interval
    /// shorter than a millisecond counts as a millisecond.
    package func `repeat`(every interval: Duration, _ body: @escaping @Sendable () -> Void) -> Registration {
      let interval = max(interval, .milliseconds(1))
      return self.add(Entry(.timer(after: interval, every: interval)) { _ in body() })
    }

    private func add(_ entry: Entry) -> Registration {
      let failure: SystemFailure? = self.state.withLock { state in
        state.lastNumber += 1
        state.count += 1
        entry.number = state.lastNumber
        switch entry.source {
        case .descriptor(let descriptor, let events):
          state.table.insert(entry, descriptor: descriptor, events: events)
          state.runner?.wake()
        case .timer(let delay, _):
          entry.due = .now.advanced(by: delay.clampedForClock)
          state.timers.insert(entry)
          if state.timers.first === entry { state.runner?.wake() }
        }
        return state.runner == nil ? self.start(&state) : nil
      }
      if let failure { self.startLater(failure) }
      return Registration(loop: self, entry: entry)
    }
  }

  // MARK: - Starting

  extension EventLoop {
    private func start(_ state: inout State) -> SystemFailure? {
      do {
        let runner = Runner(pipe: try self.openPipe())
        runner.thread = try LoopThread(name: "operation-loop") { self.run(runner) }
        state.runner = runner
        state.failureCount = 0
        return nil
      } catch {
        state.failureCount += 1
        return error
      }
    }

    /// Reports the first of several failures in a row, and schedules another attempt.
    private func startLater(_ failure: SystemFailure) {
      let count = self.state.withLock { $0.failureCount }
      if count == 1 { Self.report(failure) }
      self.setRestart()
    }

    private func setRestart() {
      let count = self.state.withLock { state in
        state.runner == nil && state.count > 0 ? state.failureCount : 0
      }
      guard count > 0 else { return }
      // The delay doubles with each failure, up to ten seconds; limiting the exponent prevents an overflow.
      let delay = min(.milliseconds(100) * (1 << min(count - 1, 10)), .seconds(10))
      self.restart.set(after: delay) { [weak self] in self?.startAgain() }
    }

    private func startAgain() {
      let failure: SystemFailure? = self.state.withLock { state in
        state.runner == nil && state.count > 0 ? self.start(&state) : nil
      }
      if let failure { self.startLater(failure) }
    }

    private func cancelRestart() {
      self.restart.cancel()
      // This may have cancelled the attempt of a registration that was added meanwhile, so another one is scheduled.
      self.setRestart()
    }
  }

  // MARK: - Cancelling

  extension EventLoop {
    func cancel(_ entry: Entry) {
      let (latch, endedThread, isRestartObsolete) = self.state.withLock { state, released in
        released.append(state.end(entry))
        let isOwnThread = state.runner?.thread?.isCurrent ?? false
        let latch = state.running === entry && !isOwnThread ? Latch() : nil
        if let latch { state.latches.append(latch) }
        // While no callback is running, the thread only runs code of the loop, so joining it does not block for long.
        let isLast = state.count == 0 && state.running == nil
        let isRestartObsolete = state.count == 0 && state.failureCount > 0
        if isRestartObsolete { state.failureCount = 0 }
        return (latch, isLast ? state.stop() : nil, isRestartObsolete)
      }
      if isRestartObsolete { self.cancelRestart() }
      (latch?.wait() ?? endedThread)?.join()
    }
  }

  extension EventLoop.State {
    /// Ends a registration, and returns its callback, to be released after unlocking. Does nothing if it has ended
    /// already.
    mutating func end(_ entry: Entry) -> Entry.Handler? {
      guard let handler = entry.handler else { return nil }
      entry.handler = nil
      self.count -= 1
      switch entry.source {
      case .descriptor:
        self.table.remove(entry)
        self.runner?.wake()
      case .timer:
        self.timers.remove(entry)
      }
      return handler
    }

    /// Makes the thread end, and returns it; the caller joins or detaches it.
    mutating func stop() -> LoopThread? {
      self.runner?.wake()
      defer { self.runner = nil }
      return self.runner?.thread
    }
  }
#endif
