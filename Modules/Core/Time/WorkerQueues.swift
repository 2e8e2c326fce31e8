internal import Synchronization

#if canImport(Dispatch)
  internal import Dispatch
#endif

/// Runs user code whose deadline has passed, so that it does not delay deadlines or other user code.
///
/// Each piece of work runs alone on a queue, so that work that blocks has its own thread. When the maximum number of
/// queues is in use, further work runs on the global queue of the system.
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

    /// Performs `work` and releases it on another thread.
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

    /// Performs `work` and releases it in a separate task.
    func perform(_ work: @escaping @Sendable () -> Void) {
      Task.detached { work() }
    }
  #endif
}
