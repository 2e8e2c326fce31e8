internal import Synchronization

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// Where foreign code runs whose time has come, so that none of it holds up a deadline or the code of others.
///
/// Each piece of work gets a queue that nothing else is on, and so a thread of its own where it blocks. Past a number of them
/// the rest shares the threads of the system.
final class WorkerQueues: Sendable {
  static let shared = WorkerQueues(maximumCount: 32)

  #if canImport(Dispatch)
    private struct State: Sendable {
      var idle: [DispatchQueue] = []
      var count = 0
    }

    private let state = Mutex(State())
    private let maximumCount: Int

    init(maximumCount: Int) {
      self.maximumCount = maximumCount
    }

    /// Performs `work`, and releases it, on another thread.
    func perform(_ work: consuming @escaping @Sendable () -> Void) {
      guard let queue = self.queue() else { return DispatchQueue.global().async(execute: work) }
      queue.async { [work] in
        work()
        self.state.withLock { $0.idle.append(queue) }
      }
    }

    private func queue() -> DispatchQueue? {
      self.state.withLock { state in
        if let queue = state.idle.popLast() { return queue }
        guard state.count < self.maximumCount else { return nil }
        state.count += 1
        return DispatchQueue(label: "swift-operation.worker-\(state.count)")
      }
    }
  #else
    init(maximumCount: Int) {}

    /// Performs `work`, and releases it, in a task of its own.
    func perform(_ work: @escaping @Sendable () -> Void) {
      Task.detached { work() }
    }
  #endif
}
