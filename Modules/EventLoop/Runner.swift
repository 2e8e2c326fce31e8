#if os(Linux)
  internal import OperationCore
  internal import Synchronization

  /// One life of the thread of a loop.
  ///
  /// Its fields belong to the lock of the loop. Who is no longer the loop's runner touches nothing of the loop.
  final class Runner: @unchecked Sendable {
    // Unchecked because the variables are only touched under the lock of the loop.

    let pipe: WakePipe
    var thread: LoopThread?
    /// Whether the thread waits, or is about to, for what it found in the loop last.
    var isWaiting = false

    init(pipe: consuming WakePipe) {
      self.pipe = pipe
    }

    /// Makes the thread look at the loop again. One that does not wait is going to anyway.
    func wake() {
      guard self.isWaiting else { return }
      self.isWaiting = false
      self.pipe.wake()
    }
  }

  extension EventLoop {
    /// What the thread does until its loop has no registrations, or another thread.
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

    /// Says how long to wait, in milliseconds, -1 for ever, and nil when the thread has to end.
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
          // It would be reported for ever.
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
        // Somebody waits until this has returned, and then for the end of the thread if that was the last one.
        let isEnd = state.count == 0 && !state.latches.isEmpty
        return (state.latches, isEnd ? state.stop() : nil)
      }
      for (index, latch) in latches.enumerated() { latch.open(index == 0 ? endedThread : nil) }
    }
  }

  extension Duration {
    /// Rounded up, so that the loop never wakes before the time and has to wait again.
    fileprivate var pollTimeout: CInt {
      let (seconds, attoseconds) = self.components
      guard self > .zero else { return 0 }
      guard seconds < Int64(CInt.max) / 1000 else { return CInt.max }
      return CInt(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
  }
#endif
