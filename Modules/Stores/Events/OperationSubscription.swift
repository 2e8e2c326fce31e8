internal import Synchronization

/// Keeps a handler, a timer, a controller or the like active until it is cancelled or released.
///
/// Releasing the last reference cancels the subscription. Cancelling it again has no effect.
public final class OperationSubscription: Sendable {
  // A struct: a bare closure in a `Mutex`, which is generic, would need one more object.
  private struct Content: Sendable {
    var onCancel: (@Sendable () -> Void)?
    var source: (any AnyObject & Sendable)?
    // Stored here and not in a closure: a closure would be one more object for each time limit.
    var deadline: Deadline?

    var isActive: Bool { self.onCancel != nil || self.deadline != nil }
  }

  private let content: Mutex<Content>

  /// Creates a subscription.
  ///
  /// - Parameter onCancel: Called once, on the thread that cancels or releases the subscription.
  public init(onCancel: @escaping @Sendable () -> Void) {
    self.content = Mutex(Content(onCancel: onCancel))
  }

  /// Creates a subscription with a description of its source, a ``SubscriptionSource``.
  init(to source: any AnyObject & Sendable, onCancel: @escaping @Sendable () -> Void) {
    self.content = Mutex(Content(onCancel: onCancel, source: source))
  }

  /// Creates a subscription to a deadline of ``DeadlineQueue/shared``.
  init(to deadline: Deadline) {
    self.content = Mutex(Content(deadline: deadline))
  }

  private init() {
    self.content = Mutex(Content())
  }

  deinit {
    self.cancel()
  }

  /// Cancels the subscription.
  public func cancel() {
    let cancelled = self.content.withLock { content in
      defer { content = Content() }
      return content
    }
    cancelled.onCancel?()
    if let deadline = cancelled.deadline { DeadlineQueue.shared.cancel(deadline) }
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

/// A source that a subscription shows in its description.
protocol SubscriptionSource {
  /// The path and the state of the source, in one line.
  var summary: String { get }
}

extension OperationSubscription: CustomStringConvertible {
  /// Whether the subscription is active, and the path and the state of the store if it subscribes to one.
  public var description: String {
    let content = self.content.withLock { $0 }
    if !content.isActive { return "OperationSubscription(cancelled)" }
    guard let source = content.source as? any SubscriptionSource else { return "OperationSubscription(active)" }
    return "OperationSubscription(active, to \(source.summary))"
  }
}
