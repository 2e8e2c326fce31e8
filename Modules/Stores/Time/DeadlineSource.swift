/// Calls actions after a duration. Time limits, polling, pauses and cache times use it.
///
/// The system's source is one queue for the process. Tests set a manual source in
/// ``OperationContext/operationDeadlines``.
public protocol DeadlineSource: Sendable {
  /// The time that has passed since a fixed moment. It never decreases.
  var elapsed: Duration { get }

  /// The current instant, for comparison with ``OperationContext/operationDeadline``. It advances with ``elapsed``.
  ///
  /// The system's source takes it from `ContinuousClock`. By default it is ``elapsed`` after a moment that is fixed
  /// for the process.
  var instant: ContinuousClock.Instant { get }

  /// Calls `action` once after `duration` has passed, unless the returned subscription is cancelled before.
  ///
  /// With a zero or negative duration, the action is called as soon as possible. An action may take long, because it
  /// may call handlers. So a source calls it where it does not delay other actions, or documents that it delays them.
  func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription
}

extension DeadlineSource {
  public var instant: ContinuousClock.Instant { SystemDeadlineSource.start.advanced(by: self.elapsed) }
}

extension DeadlineSource {
  /// Waits for `duration` or until the task is cancelled.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func sleep(for duration: Duration) async throws {
    try Task.checkCancellation()
    let end = AwaitedOutcome<Void>()
    let deadline = self.scheduleWakeUp(after: duration) { end.decide() }
    await withTaskCancellationHandler {
      await end.value()
    } onCancel: {
      deadline.cancel()
      end.decide()
    }
    try Task.checkCancellation()
  }
}

extension DeadlineSource {
  /// Schedules an action that only resumes a task. Unlike other actions, it does not need a worker queue.
  fileprivate func scheduleWakeUp(
    after duration: Duration,
    _ action: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    guard self is SystemDeadlineSource else { return self.schedule(after: duration, action) }
    return OperationSubscription(to: DeadlineQueue.shared.schedule(after: duration, action))
  }
}

extension DeadlineSource where Self == SystemDeadlineSource {
  /// The queue of the process, on a monotonic clock.
  public static var system: Self { SystemDeadlineSource() }
}

/// The deadlines of the process, on a monotonic clock that counts the time that the machine sleeps.
///
/// What has become due while the machine slept fires after it has woken up: at once, or over a second where that is more
/// than a hundred actions.
public struct SystemDeadlineSource: DeadlineSource {
  static let start = ContinuousClock.now

  /// Creates a source. All instances share one queue.
  public init() {}

  public var elapsed: Duration { Self.start.duration(to: .now) }

  /// Fires what has become due while the machine slept, without waiting for the timer of the system.
  ///
  /// The observer of activity calls it on Linux. Call it where the system tells your program that it has woken up.
  public static func noteWakeUp() { DeadlineQueue.shared.noteWakeUp() }

  public var instant: ContinuousClock.Instant { .now }

  /// Calls `action` once `duration` has passed, on a thread where it does not delay other deadlines.
  ///
  /// Actions that are due together run on four threads. Where all of these block, further threads take what waits after 10 ms.
  public func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    let instant = ContinuousClock.now.advanced(by: duration.clampedForClock)
    return OperationSubscription(to: DeadlineQueue.shared.schedule(at: instant, onWorker: true, action))
  }
}

extension OperationContext {
  /// The source of deadlines for time limits, polling, pauses and cache times. The queue of the process by default.
  public var operationDeadlines: any DeadlineSource {
    get { self[DeadlinesKey.self] }
    set { self[DeadlinesKey.self] = newValue }
  }

  /// The elapsed time of the context's deadlines, from zero to a hundred years. Avoids boxing the usual source.
  package var elapsed: Duration {
    self.hasOwnDeadlines ? self[DeadlinesKey.self].elapsed.clampedForClock : SystemDeadlineSource().elapsed
  }

  /// Whether the context has another source of deadlines than the usual one.
  var hasOwnDeadlines: Bool { self.isSet(DeadlinesKey.self) }

  private enum DeadlinesKey: Key {
    static let defaultValue: any DeadlineSource = SystemDeadlineSource()
  }
}
