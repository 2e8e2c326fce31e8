/// A node for an idle store in the linked list of an ``IdleQueue``.
class IdleNode: @unchecked Sendable {
  // Unchecked because the compiler cannot check a class with subclasses. The lock of the cache guards the links; each
  // subclass documents its own fields. Accesses cannot overlap under that lock: the runtime's checks for it were 2 % of a fetch.
  @exclusivity(unchecked) fileprivate(set) var links = Links()

  /// The neighbours of a node in its queue, and its rank there.
  struct Links {
    fileprivate(set) var next: IdleNode?
    // Unowned: with strong references in both directions, neighbours would hold each other, and a node and its queue,
    // too. A node leaves its queue before either of them is released.
    fileprivate(set) unowned var previous: IdleNode?
    fileprivate(set) unowned var queue: IdleQueue?
    fileprivate(set) var since = Duration.zero
    fileprivate(set) var order: UInt64 = 0
  }

  init() {}

  var idleStore: OperationClient.IdleStore { preconditionFailure("Overridden by all subclasses.") }
}

/// A node for a store whose client uses another cache, which forwards its calls to this one.
final class ForwardedIdleNode: IdleNode, @unchecked Sendable {
  // Unchecked like its base class. The field below is immutable.
  private let store: OperationClient.IdleStore

  init(_ store: OperationClient.IdleStore) {
    self.store = store
  }

  override var idleStore: OperationClient.IdleStore { self.store }
}

/// The idle stores with the same cache time and deadline source, in the order in which they became idle.
final class IdleQueue: @unchecked Sendable {
  // Unchecked because the lock of the cache guards the mutable fields.

  /// The properties that all stores of a queue share.
  struct Key: Hashable, Sendable {
    let cacheTime: Duration
    let source: DeadlineSourceID
  }

  let key: Key
  let deadlines: any DeadlineSource
  // The lock of the cache guards the three.
  @exclusivity(unchecked) var alarm = SubscriptionSlot()
  @exclusivity(unchecked) private(set) var first: IdleNode?
  @exclusivity(unchecked) private var last: IdleNode?

  init(_ key: Key, deadlines: any DeadlineSource) {
    self.key = key
    self.deadlines = deadlines
  }

  func append(_ node: IdleNode, since: Duration, order: UInt64) {
    node.links = IdleNode.Links(previous: self.last, queue: self, since: since, order: order)
    if let last = self.last { last.links.next = node } else { self.first = node }
    self.last = node
  }

  /// Removes a node. The caller holds a reference to it, so that it is not released under the lock.
  func remove(_ node: IdleNode) {
    let next = node.links.next.take()
    if let next { next.links.previous = node.links.previous } else { self.last = node.links.previous }
    if let previous = node.links.previous { previous.links.next = next } else { self.first = next }
    node.links.previous = nil
    node.links.queue = nil
  }
}

/// Identifies a deadline source by its type and its bytes.
///
/// Copies of a value, and references to the same object, have the same identifier. An identifier is stored together
/// with its source, so that no other source can have the same bytes meanwhile.
struct DeadlineSourceID: Hashable, Sendable {
  private let type: ObjectIdentifier
  private let bytes: [UInt8]

  init(_ source: some DeadlineSource) {
    self.type = ObjectIdentifier(Swift.type(of: source))
    self.bytes = withUnsafeBytes(of: source) { Array($0) }
  }
}
