#if os(Linux)
  internal import OperationCore

  /// Calls back when descriptors become ready and when time has passed.
  ///
  /// One thread waits for all of them in `poll`. It begins with the first registration and ends with the last one, so that
  /// nothing is left where nobody watches, and it sleeps until something happens.
  ///
  /// Callbacks run on that thread, one after the other, and no lock is held meanwhile: they may register and cancel as they
  /// like. They have to be short, for all others wait for them. All signals are blocked there.
  package final class EventLoop: Sendable {
    /// The loop of the process.
    package static let shared = EventLoop()

    struct State {
      /// The registrations that have not ended.
      var count = 0
      var table = PollTable()
      var timers = TimerHeap()
      var lastNumber: UInt64 = 0
      /// The thread that serves them; nil while there is none.
      var runner: Runner?
      /// What is being called.
      var running: Entry?
      /// Those who wait until that has returned.
      var latches: [Latch] = []
      /// How often the thread could not begin, one time after the other.
      var failureCount = 0
    }

    let state = Locked(State())
    private let restart: Alarm
    private let openPipe: @Sendable () throws(LoopFailure) -> WakePipe

    /// Creates a loop of its own, which has a thread while it has registrations.
    package convenience init() {
      self.init(deadlines: ThreadDeadlines()) { () throws(LoopFailure) in try WakePipe() }
    }

    /// - Parameters:
    ///   - deadlines: What a loop waits on that could not begin.
    ///   - openPipe: Makes the pipe by which the thread is woken.
    init(deadlines: any DeadlineSource, openPipe: @escaping @Sendable () throws(LoopFailure) -> WakePipe) {
      self.restart = Alarm(deadlines)
      self.openPipe = openPipe
    }

    /// Whether there is a thread.
    package var isRunning: Bool { self.state.withLock { $0.runner != nil } }
  }

  // MARK: - Registering

  extension EventLoop {
    /// Calls `onEvent` whenever one of `events` holds for a descriptor.
    ///
    /// Errors, hang-ups and invalid descriptors are reported whether asked for or not. What a callback leaves as it is, such
    /// as bytes that it does not read, is reported again at once; only an invalid descriptor is reported once and then no
    /// longer looked at. The descriptor stays the caller's, who closes it after cancelling.
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

    /// Calls `body` each time that `interval` has passed.
    ///
    /// Times that pass while the thread is busy or the machine sleeps are made up for by one call. An interval under a
    /// millisecond counts as one.
    package func `repeat`(every interval: Duration, _ body: @escaping @Sendable () -> Void) -> Registration {
      let interval = max(interval, .milliseconds(1))
      return self.add(Entry(.timer(after: interval, every: interval)) { _ in body() })
    }

    private func add(_ entry: Entry) -> Registration {
      let failure: LoopFailure? = self.state.withLock { state in
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
    private func start(_ state: inout State) -> LoopFailure? {
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

    /// Reports the first of several failures, and tries again after a while, which is longer each time.
    private func startLater(_ failure: LoopFailure) {
      let count = self.state.withLock { $0.failureCount }
      if count == 1 { failure.report() }
      self.setRestart()
    }

    private func setRestart() {
      let count = self.state.withLock { state in
        state.runner == nil && state.count > 0 ? state.failureCount : 0
      }
      guard count > 0 else { return }
      // It is not doubled more often than it takes to come to the longest delay.
      let delay = min(.milliseconds(100) * (1 << min(count - 1, 10)), .seconds(10))
      self.restart.set(after: delay) { [weak self] in self?.startAgain() }
    }

    private func startAgain() {
      let failure: LoopFailure? = self.state.withLock { state in
        state.runner == nil && state.count > 0 ? self.start(&state) : nil
      }
      if let failure { self.startLater(failure) }
    }

    private func cancelRestart() {
      self.restart.cancel()
      // It may have been set meanwhile for a registration that has come since.
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
        // While nothing is being called, the thread runs nobody's code, and joining it waits for nobody.
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
    /// Takes out what has not ended, and returns what it would have called, to be released after the lock.
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

    /// Lets the thread end, and returns it to who has to join or detach it.
    mutating func stop() -> LoopThread? {
      self.runner?.wake()
      defer { self.runner = nil }
      return self.runner?.thread
    }
  }
#endif
