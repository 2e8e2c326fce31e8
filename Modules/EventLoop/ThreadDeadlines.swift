#if os(Linux)
  internal import OperationCore

  /// Deadlines that need no descriptor, for retries after descriptors have run out. Each waits on its own thread.
  ///
  /// The deadline queue of the process needs several descriptors, and Dispatch aborts the process if it gets none.
  struct ThreadDeadlines: DeadlineSource {
    private static let start = ContinuousClock.now

    var elapsed: Duration { Self.start.duration(to: .now) }

    func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
      let wait = Wait(action)
      do {
        try LoopThread(name: "operation-retry") { wait.run(for: duration) }.detach()
      } catch {
        // Threads have run out, so descriptors may still be available.
        return SystemDeadlineSource().schedule(after: duration, action)
      }
      return OperationSubscription { wait.cancel() }
    }

    private final class Wait: Sendable {
      private let latch = Latch()
      private let action: Locked<(@Sendable () -> Void)?>

      init(_ action: @escaping @Sendable () -> Void) {
        self.action = Locked(action)
      }

      func run(for duration: Duration) {
        guard !self.latch.isOpened(within: duration) else { return }
        self.action.withLock { $0.take() }?()
      }

      func cancel() {
        self.action.withLock { action, released in released.append(action.take()) }
        self.latch.open(nil)
      }
    }
  }
#endif
