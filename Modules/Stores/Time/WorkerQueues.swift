internal import Synchronization

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// Runs user code whose deadline has passed, so that it does not delay deadlines or other user code for long.
///
/// A few queues perform what comes, each one piece of work after the other: ten thousand polls that are due together take
/// four threads, and not as many as the system allows. Where nothing has begun for a moment, because all of that work
/// blocks its threads, further queues take what waits. When the maximum number of queues is in use, it runs on the global
/// queue of the system.
final class WorkerQueues: Sendable {
  #if canImport(Dispatch)
    static let shared = WorkerQueues(usualCount: 4, maximumCount: 32, .shared)

    /// How long the queues may begin nothing while work waits.
    private static let patience = Duration.milliseconds(10)

    private struct Work: Sendable {
      let call: @Sendable () -> Void
    }

    private struct State: Sendable {
      var waiting = SerialQueue<Work>()
      var idle: [DispatchQueue] = []
      var count = 0
      /// The number of pieces of work that have begun.
      var begun: UInt64 = 0
      /// Whether a deadline is scheduled that looks whether something has begun.
      var isWatched = false

      var activeCount: Int { self.count - self.idle.count }

      /// Takes a queue for work that begins; nil if as many as `limit` are in use.
      mutating func takeQueue(upTo limit: Int) -> DispatchQueue? {
        guard self.activeCount < limit else { return nil }
        if let queue = self.idle.popLast() { return queue }
        self.count += 1
        return DispatchQueue(label: "swift-operation.worker-\(self.count)")
      }

      mutating func takeWork() -> Work? {
        let work = self.waiting.popFirst()
        if work != nil { self.begun &+= 1 }
        return work
      }
    }

    private let state = Mutex(State())
    private let usualCount: Int
    private let maximumCount: Int
    private let deadlines: DeadlineQueue

    /// Creates queues.
    ///
    /// - Parameters:
    ///   - usualCount: The number of queues for work that does not block.
    ///   - maximumCount: The number of queues for work that blocks.
    ///   - deadlines: Tells when work has waited for long.
    init(usualCount: Int, maximumCount: Int, _ deadlines: DeadlineQueue) {
      self.usualCount = usualCount
      self.maximumCount = maximumCount
      self.deadlines = deadlines
    }

    /// The number of queues that were needed at once so far.
    var count: Int { self.state.withLock { $0.count } }

    /// The number of pieces of work that wait for a queue.
    var waitingCount: Int { self.state.withLock { $0.waiting.count } }

    /// Performs `work` and releases it on another thread.
    func perform(_ work: consuming @escaping @Sendable () -> Void) {
      let work = Work(call: work)
      let (queue, watched) = self.state.withLock { state -> (DispatchQueue?, UInt64?) in
        if let queue = state.takeQueue(upTo: self.usualCount) {
          state.begun &+= 1
          return (queue, nil)
        }
        state.waiting.append(work)
        guard !state.isWatched else { return (nil, nil) }
        state.isWatched = true
        return (nil, state.begun)
      }
      if let queue { self.perform(work, on: queue) }
      if let watched { self.watch(since: watched) }
    }

    private func perform(_ work: Work, on queue: DispatchQueue) {
      queue.async {
        work.call()
        // Each piece is a block of its own: where the system has autorelease pools, each has one.
        if let next = self.next(for: queue) { self.perform(next, on: queue) }
      }
    }

    private func next(for queue: DispatchQueue) -> Work? {
      self.state.withLock { state in
        let work = state.takeWork()
        if work == nil { state.idle.append(queue) }
        return work
      }
    }

    private func watch(since begun: UInt64) {
      _ = self.deadlines.schedule(after: Self.patience) { self.relieve(since: begun) }
    }

    /// Begins work on further queues if none has begun since a number of pieces had.
    private func relieve(since begun: UInt64) {
      let (works, watched) = self.state.withLock { state -> ([(Work, DispatchQueue?)], UInt64?) in
        var works: [(Work, DispatchQueue?)] = []
        if state.begun == begun {
          // Twice as many, so that much work that blocks is passed soon.
          for _ in 0..<max(state.activeCount, 1) {
            guard !state.waiting.isEmpty, let queue = state.takeQueue(upTo: self.maximumCount) else { break }
            if let work = state.takeWork() { works.append((work, queue)) }
          }
          if works.isEmpty { while let work = state.takeWork() { works.append((work, nil)) } }
        }
        state.isWatched = !state.waiting.isEmpty
        return (works, state.isWatched ? state.begun : nil)
      }
      for (work, queue) in works {
        if let queue { self.perform(work, on: queue) } else { DispatchQueue.global().async { work.call() } }
      }
      if let watched { self.watch(since: watched) }
    }
  #else
    static let shared = WorkerQueues()

    /// Performs `work` and releases it in a separate task.
    func perform(_ work: @escaping @Sendable () -> Void) {
      Task.detached { work() }
    }
  #endif
}
