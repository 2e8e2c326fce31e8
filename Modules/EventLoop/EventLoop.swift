#if os(Linux)
  internal import OperationCore
  internal import Synchronization

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
    }

    let state = Mutex(State())

    /// Creates a loop of its own, which has a thread while it has registrations.
    package init() {}

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
      failure?.report()
      return Registration(loop: self, entry: entry)
    }

    private func start(_ state: inout State) -> LoopFailure? {
      do {
        let runner = Runner(pipe: try WakePipe())
        runner.thread = try LoopThread { self.run(runner) }
        state.runner = runner
        return nil
      } catch {
        return error
      }
    }
  }

  // MARK: - Cancelling

  extension EventLoop {
    func cancel(_ entry: Entry) {
      let (handler, latch, endedThread) = self.state.withLock { state in
        let handler = state.end(entry)
        let isOwnThread = state.runner?.thread?.isCurrent ?? false
        let latch = state.running === entry && !isOwnThread ? Latch() : nil
        if let latch { state.latches.append(latch) }
        // While nothing is being called, the thread runs nobody's code, and joining it waits for nobody.
        let isLast = state.count == 0 && state.running == nil
        return (handler, latch, isLast ? state.stop() : nil)
      }
      (latch?.wait() ?? endedThread)?.join()
      _ = consume handler  // What it captures is released after the lock.
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
