#if os(Linux)
  internal import OperationCore
  internal import OperationEventLoop

  /// Deadlines that are timers of an event loop, so that a watch needs no second thread.
  struct LoopDeadlines: DeadlineSource {
    private static let start = ContinuousClock.now

    let loop: EventLoop

    var elapsed: Duration { Self.start.duration(to: .now) }

    func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
      let registration = self.loop.schedule(after: duration, action)
      return OperationSubscription { registration.cancel() }
    }
  }
#endif
