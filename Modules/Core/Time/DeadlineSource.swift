/// Calls back after a span of time: what polling, cache times and delays wait on.
///
/// The system's source is one queue for the process. Tests put a manual one in ``OperationContext/operationDeadlines``.
public protocol DeadlineSource: Sendable {
  /// The time that has passed since some fixed moment. It never goes back.
  var elapsed: Duration { get }

  /// Calls `action` once, after `duration` has passed, unless the subscription that it returns is cancelled before.
  ///
  /// A duration that is zero or negative calls as soon as possible. The action may take its time, as it may call handlers: a
  /// source calls it where it holds up no other action, or says that it does.
  func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription
}

extension DeadlineSource {
  /// Waits for `duration`, or until the task is cancelled.
  ///
  /// - Throws: `CancellationError` at once when the task is cancelled.
  public func sleep(for duration: Duration) async throws {
    let sleeper = Sleeper()
    try await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        sleeper.begin(continuation) { self.scheduleWakeUp(after: duration) { sleeper.end() } }
      }
      try Task.checkCancellation()
    } onCancel: {
      sleeper.end()
    }
  }
}

extension DeadlineSource {
  /// Schedules an action that only resumes a task, which needs no thread of its own.
  fileprivate func scheduleWakeUp(
    after duration: Duration,
    _ action: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    guard self is SystemDeadlineSource else { return self.schedule(after: duration, action) }
    let deadline = DeadlineQueue.shared.schedule(after: duration, action)
    return OperationSubscription { DeadlineQueue.shared.cancel(deadline) }
  }
}

extension DeadlineSource where Self == SystemDeadlineSource {
  /// The queue of the process, on a monotonic clock.
  public static var system: Self { SystemDeadlineSource() }
}

/// The deadlines of the process, on a monotonic clock.
public struct SystemDeadlineSource: DeadlineSource {
  private static let start = ContinuousClock.now

  /// Creates a source. All of them share one queue.
  public init() {}

  public var elapsed: Duration { Self.start.duration(to: .now) }

  /// Calls `action` once `duration` has passed, on a thread where it holds up no other deadline.
  public func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    let entrusted = EntrustedAction(action)
    let deadline = DeadlineQueue.shared.schedule(after: duration) {
      WorkerQueues.shared.perform { entrusted.take()?() }
    }
    return OperationSubscription {
      DeadlineQueue.shared.cancel(deadline)
      _ = entrusted.take()
    }
  }
}

/// An action that is taken once: to be performed, or to be released by whoever cancels it.
private final class EntrustedAction: Sendable {
  private let action: Locked<(@Sendable () -> Void)?>

  init(_ action: @escaping @Sendable () -> Void) {
    self.action = Locked(action)
  }

  func take() -> (@Sendable () -> Void)? {
    self.action.withLock { $0.take() }
  }
}

extension OperationContext {
  /// What polling and cache times wait on. The queue of the process by default.
  public var operationDeadlines: any DeadlineSource {
    get { self[DeadlinesKey.self] }
    set { self[DeadlinesKey.self] = newValue }
  }

  private enum DeadlinesKey: Key {
    static let defaultValue: any DeadlineSource = SystemDeadlineSource()
  }
}
