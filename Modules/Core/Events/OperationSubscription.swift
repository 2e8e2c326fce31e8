internal import Synchronization

/// Keeps a handler, a timer, a controller or the like active until it is cancelled or released.
///
/// Releasing the last reference cancels the subscription. Cancelling it again has no effect.
public final class OperationSubscription: Sendable {
  // A lock beside the closure: stored in a `Mutex`, which is generic, a closure needs one more object.
  private let lock = Mutex(())
  // Unsafe only in name: `lock` guards it.
  private nonisolated(unsafe) var onCancel: (@Sendable () -> Void)?
  // Unsafe only in name: `lock` guards it.
  private nonisolated(unsafe) var source: (any AnyObject & Sendable)?

  /// Creates a subscription.
  ///
  /// - Parameter onCancel: Called once, on the thread that cancels or releases the subscription.
  public init(onCancel: @escaping @Sendable () -> Void) {
    self.onCancel = onCancel
  }

  /// Creates a subscription that is described by what it subscribes to, a ``SubscriptionSource``.
  init(to source: any AnyObject & Sendable, onCancel: @escaping @Sendable () -> Void) {
    self.onCancel = onCancel
    self.source = source
  }

  private init() {
    self.onCancel = nil
  }

  deinit {
    self.cancel()
  }

  /// Cancels the subscription.
  public func cancel() {
    let (onCancel, source) = self.lock.withLock { _ in (self.onCancel.take(), self.source.take()) }
    onCancel?()
    _ = consume source  // Released after unlocking.
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

/// What a subscription describes itself with.
protocol SubscriptionSource {
  /// The path and the state of what is subscribed to, in one line.
  var summary: String { get }
}

extension OperationSubscription: CustomStringConvertible {
  /// Whether the subscription is active, and the path and the state of the store if it subscribes to one.
  public var description: String {
    let (isActive, source) = self.lock.withLock { _ in (self.onCancel != nil, self.source) }
    guard isActive else { return "OperationSubscription(cancelled)" }
    guard let source = source as? any SubscriptionSource else { return "OperationSubscription(active)" }
    return "OperationSubscription(active, to \(source.summary))"
  }
}
