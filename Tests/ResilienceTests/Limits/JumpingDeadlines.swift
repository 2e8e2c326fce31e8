import OperationCore
import Synchronization

/// A faulty source of deadlines, whose time can go back. It calls no action.
final class JumpingDeadlines: DeadlineSource {
  let time = Mutex(Duration.zero)

  var elapsed: Duration { self.time.withLock { $0 } }

  func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription { .empty }
}
