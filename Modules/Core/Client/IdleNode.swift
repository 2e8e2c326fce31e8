/// A place for an idle store in a queue.
@usableFromInline
class IdleNode: @unchecked Sendable {
  // Unchecked because a class that is subclassed cannot be checked; what it has is touched by whoever holds the lock of the
  // cache, and the one subclass that adds more says who touches that.
  @exclusivity(unchecked) fileprivate(set) var next: IdleNode?
  // Only the way forward holds what is there, or they would hold each other.
  @exclusivity(unchecked) fileprivate(set) unowned var previous: IdleNode?
  /// The queue that it is in, which is there while it has nodes.
  @exclusivity(unchecked) fileprivate(set) unowned var queue: IdleQueue?
  @exclusivity(unchecked) fileprivate(set) var since = Duration.zero
  @exclusivity(unchecked) fileprivate(set) var order: UInt64 = 0

  init() {}

  var idleStore: OperationClient.IdleStore { preconditionFailure("Overridden by all subclasses.") }
}

/// The place of a store whose client tells a cache of it through another one.
final class ForwardedIdleNode: IdleNode, @unchecked Sendable {
  // Unchecked as its base class is; what it adds is immutable.
  private let store: OperationClient.IdleStore

  init(_ store: OperationClient.IdleStore) {
    self.store = store
  }

  override var idleStore: OperationClient.IdleStore { self.store }
}

/// The idle stores with one cache time by one source of deadlines, in the order in which they became idle.
final class IdleQueue: @unchecked Sendable {
  // Unchecked because it is touched by whoever holds the lock of the cache.
  enum Alarm: Sendable {
    case off
    /// Somebody is about to schedule it.
    case pending
    case on(OperationSubscription)

    var isOff: Bool {
      if case .off = self { true } else { false }
    }
  }

  /// What the stores of a queue have in common.
  struct Key: Hashable, Sendable {
    let cacheTime: Duration
    let source: DeadlineSourceID
  }

  let key: Key
  let deadlines: any DeadlineSource
  var alarm = Alarm.off
  private(set) var first: IdleNode?
  private unowned var last: IdleNode?

  init(_ key: Key, deadlines: any DeadlineSource) {
    self.key = key
    self.deadlines = deadlines
  }

  func append(_ node: IdleNode, since: Duration, order: UInt64) {
    node.since = since
    node.order = order
    node.queue = self
    node.previous = self.last
    if let last = self.last { last.next = node } else { self.first = node }
    self.last = node
  }

  /// Takes out a node, which the caller holds.
  func remove(_ node: IdleNode) {
    let next = node.next.take()
    if let next { next.previous = node.previous } else { self.last = node.previous }
    if let previous = node.previous { previous.next = next } else { self.first = next }
    node.previous = nil
    node.queue = nil
  }
}

/// Tells sources of deadlines apart, by their type and their bytes: copies of a value, and references to an object, have the
/// same. An identifier is kept together with its source, so that no other source gets the same bytes.
struct DeadlineSourceID: Hashable, Sendable {
  private let type: ObjectIdentifier
  private let bytes: [UInt8]

  init(_ source: some DeadlineSource) {
    self.type = ObjectIdentifier(Swift.type(of: source))
    self.bytes = withUnsafeBytes(of: source) { Array($0) }
  }
}
