internal import Synchronization

/// Keeps a handler, a timer, a controller or the like active until it is cancelled or released.
///
/// Releasing the last reference cancels the subscription. Cancelling it again has no effect.
public final class OperationSubscription: Sendable {
  // A lock beside the closure: stored in a `Mutex`, which is generic, a closure needs one more object.
  private let lock = Mutex(())
  // Unsafe only in name: `lock` guards it.
  private nonisolated(unsafe) var onCancel: (@Sendable () -> Void)?

  /// Creates a subscription.
  ///
  /// - Parameter onCancel: Called once, on the thread that cancels or releases the subscription.
  public init(onCancel: @escaping @Sendable () -> Void) {
    self.onCancel = onCancel
  }

  private init() {
    self.onCancel = nil
  }

  deinit {
    self.cancel()
  }

  /// Cancels the subscription.
  public func cancel() {
    let onCancel = self.lock.withLock { _ in self.onCancel.take() }
    onCancel?()
  }
}

extension OperationSubscription {
  /// A subscription without an effect. It is one shared instance.
  public static let empty = OperationSubscription()

  /// Returns one subscription that cancels all of `subscriptions`, in order.
  public static func combined(_ subscriptions: some Sequence<OperationSubscription>) -> OperationSubscription {
    let subscriptions = Array(subscriptions)
    return OperationSubscription { for subscription in subscriptions { subscription.cancel() } }
  }

  /// Returns one subscription that cancels all of `subscriptions`, in order.
  public static func combined(_ subscriptions: OperationSubscription...) -> OperationSubscription {
    .combined(subscriptions)
  }

  /// Inserts the subscription into a set.
  public func store(in subscriptions: inout Set<OperationSubscription>) {
    subscriptions.insert(self)
  }

  /// Appends the subscription to a collection.
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
