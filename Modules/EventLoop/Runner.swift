#if os(Linux)
  internal import OperationCore
  internal import Synchronization

  /// One thread of a loop, from its start to its end.
  ///
  /// Its fields are guarded by the lock of the loop. A runner that the loop has replaced no longer touches the loop's
  /// state.
  final class Runner: @unchecked Sendable {
    // Unchecked because the variables are only accessed with the lock of the loop held.

    let pipe: WakePipe
    var thread: LoopThread?
    /// Whether the thread waits in `poll`, or is about to, with the registrations that it last saw.
    var isWaiting = false

    init(pipe: consuming WakePipe) {
      self.pipe = pipe
    }

    /// Makes a waiting thread read the loop's state again. A thread that is not waiting reads it before it waits.
    func wake() {
      guard self.isWaiting else { return }
      self.isWaiting = false
      self.pipe.wake()
    }
  }

  extension EventLoop {
    /// The body of the thread: runs until the loop has no registrations, or has another thread.
    func run(_ runner: Runner) {
      var set = PollSet(pipe: runner.pipe)
      while let timeout = self.prepare(runner, &set) {
        let ready = set.wait(timeout: timeout)
        if set.isWoken { runner.pipe.drain() }
        guard self.resume(runner) else { return }
        let now = ContinuousClock.now
        for (entry, events) in ready { self.call(entry, events, on: runner) }
        while let timer = self.dueTimer(runner, now) { self.call(timer, [], on: runner) }
      }
    }

    /// Returns the timeout in milliseconds, -1 to wait without a limit, or nil when the thread must end.
    private func prepare(_ runner: Runner, _ set: inout PollSet) -> CInt? {
      self.state.withLock { state in
        guard state.runner === runner else { return nil }
        guard state.count > 0 else {
          state.stop()?.detach()
          return nil
        }
        set.update(from: state.table)
        runner.isWaiting = true
        return state.timers.first.map { ContinuousClock.now.duration(to: $0.due).pollTimeout } ?? -1
      }
    }

    private func resume(_ runner: Runner) -> Bool {
      self.state.withLock { state in
        runner.isWaiting = false
        return state.runner === runner
      }
    }

    private func dueTimer(_ runner: Runner, _ now: ContinuousClock.Instant) -> Entry? {
      self.state.withLock { state in
        guard state.runner === runner, let first = state.timers.first, first.due <= now else { return nil }
        state.timers.remove(first)
        return first
      }
    }

    private func call(_ entry: Entry, _ events: Events, on runner: Runner) {
      var handler: Entry.Handler? = self.state.withLock { state in
        guard state.runner === runner, let handler = entry.handler else { return nil }
        state.running = entry
        switch entry.source {
        case .descriptor:
          // `poll` would report the invalid descriptor again and again.
          if events.contains(.invalid) { state.table.remove(entry) }
        case .timer(_, let interval):
          guard interval == nil else { break }
          entry.handler = nil
          state.count -= 1
        }
        return handler
      }
      guard handler != nil else { return }
      handler?(events)
      handler = nil
      self.finish(entry)
    }

    private func finish(_ entry: Entry) {
      let (latches, endedThread) = self.state.withLock { state in
        state.running = nil
        if case .timer(_, let interval?) = entry.source, entry.handler != nil {
          let now = ContinuousClock.now
          let next = entry.due.advanced(by: interval.clampedForClock)
          entry.due = next > now ? next : now.advanced(by: interval.clampedForClock)
          state.timers.insert(entry)
        }
        defer { state.latches = [] }
        // Callers of `cancel` wait for this callback, and for the end of the thread if theirs was the last
        // registration.
        let isEnd = state.count == 0 && !state.latches.isEmpty
        return (state.latches, isEnd ? state.stop() : nil)
      }
      for (index, latch) in latches.enumerated() { latch.open(index == 0 ? endedThread : nil) }
    }
  }

  extension Duration {
    /// Rounded up, so that the loop does not wake before the deadline and have to wait again.
    fileprivate var pollTimeout: CInt {
      let (seconds, attoseconds) = self.components
      guard self > .zero else { return 0 }
      guard seconds < Int64(CInt.max) / 1000 else { return CInt.max }
      return CInt(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
  }
#endif
