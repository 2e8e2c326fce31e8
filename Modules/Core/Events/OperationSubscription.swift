internal import Synchronization

/// Keeps something going until it is cancelled or dropped: an observer, a timer, a controller.
///
/// It cancels itself when its last reference goes. Cancelling twice does nothing the second time.
public final class OperationSubscription: Sendable {
  // The lock lies beside what it guards: in a `Mutex`, which is generic, a closure takes an object more.
  private let lock = Mutex(())
  // Unsafe only in name: touched by whoever holds the lock.
  private nonisolated(unsafe) var onCancel: (@Sendable () -> Void)?

  /// Creates a subscription.
  ///
  /// - Parameter onCancel: Called once, on the thread that cancels or drops the subscription.
  public init(onCancel: @escaping @Sendable () -> Void) {
    self.onCancel = onCancel
  }

  private init() {
    self.onCancel = nil
  }

  deinit {
    self.cancel()
  }

  /// Ends what the subscription keeps going.
  public func cancel() {
    let onCancel = self.lock.withLock { _ in self.onCancel.take() }
    onCancel?()
  }
}

extension OperationSubscription {
  /// A subscription to nothing. There is one, so that it is equal to itself.
  public static let empty = OperationSubscription()

  /// One subscription that cancels all of `subscriptions`, in order.
  public static func combined(_ subscriptions: some Sequence<OperationSubscription>) -> OperationSubscription {
    let subscriptions = Array(subscriptions)
    return OperationSubscription { for subscription in subscriptions { subscription.cancel() } }
  }

  /// One subscription that cancels all of `subscriptions`, in order.
  public static func combined(_ subscriptions: OperationSubscription...) -> OperationSubscription {
    .combined(subscriptions)
  }

  /// Keeps the subscription in a set.
  public func store(in subscriptions: inout Set<OperationSubscription>) {
    subscriptions.insert(self)
  }

  /// Keeps the subscription at the end of a collection.
  public func store(in subscriptions: inout some RangeReplaceableCollection<OperationSubscription>) {
    subscriptions.append(self)
  }
}

extension OperationSubscription: Hashable {
  public static func == (lhs: OperationSubscription, rhs: OperationSubscription) -> Bool { lhs === rhs }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}
