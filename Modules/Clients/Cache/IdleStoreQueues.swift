/// Idle stores in the order in which they became idle, with one queue for each cache time and deadline source.
///
/// Inserting or removing a store takes constant time; `removeOldest()` visits each queue.
///
/// The entries of the stores are the nodes of the queues. An entry serves only the cache of its client: a cache that
/// receives stores from another cache creates separate nodes for them.
struct IdleStoreQueues: Sendable {
  typealias IdleStore = OperationClient.IdleStore

  private var queues: [IdleQueue.Key: IdleQueue] = [:]
  /// The most recently used queue: nearly all stores have the same cache time.
  private var recent: IdleQueue?
  /// The queues that became empty while their alarms were on, in that order: at most eight.
  ///
  /// A queue stays among them when it gets stores again, so that a store that becomes idle repeatedly does not move its
  /// queue each time.
  private var emptiedQueues: [IdleQueue] = []
  /// The nodes of stores whose client uses another cache.
  private var forwarded: [IdleStore.ID: ForwardedIdleNode] = [:]
  private var lastOrder: UInt64 = 0
  private(set) var count = 0

  /// True if there are no idle stores and no queues with alarms.
  var isEmpty: Bool { self.queues.isEmpty }

  /// All idle stores, the oldest first.
  var all: [IdleStore] {
    var nodes: [IdleNode] = []
    for queue in self.queues.values {
      var next = queue.first
      while let node = next {
        nodes.append(node)
        next = node.links.next
      }
    }
    return nodes.sorted { $0.links.order < $1.links.order }.map(\.idleStore)
  }

  /// Objects removed from the queues. The caller releases them after the lock.
  struct Removal: Sendable {
    let node: IdleNode
    /// A queue that is no longer needed, with its alarm.
    var queue: IdleQueue?
  }

  /// Adds a store, and removes its previous node.
  ///
  /// - Parameters:
  ///   - store: The store, which has become idle.
  ///   - key: The cache time of the store and the identity of its deadline source.
  ///   - deadlines: The deadline source of the store.
  ///   - since: When the store became idle: the elapsed time of the deadline source.
  ///   - cache: The cache that owns these queues.
  /// - Returns: The removed objects, nil if there was no node, and the queue that now contains the store.
  mutating func insert(
    _ store: IdleStore,
    key: IdleQueue.Key,
    deadlines: any DeadlineSource,
    since: Duration,
    for cache: ObjectIdentifier
  ) -> (removal: Removal?, queue: IdleQueue) {
    let removal = self.remove(store.id, for: cache)
    let queue = self.queue(for: key, on: deadlines)
    self.lastOrder += 1
    self.count += 1
    queue.append(self.makeNode(for: store, cache), since: since, order: self.lastOrder)
    return (removal, queue)
  }

  private mutating func queue(for key: IdleQueue.Key, on deadlines: any DeadlineSource) -> IdleQueue {
    if let recent = self.recent, recent.key == key { return recent }
    let queue = self.queues[key] ?? IdleQueue(key, deadlines: deadlines)
    self.queues[key] = queue
    self.recent = queue
    return queue
  }

  private mutating func removeQueue(_ queue: IdleQueue) {
    self.queues[queue.key] = nil
    if self.recent === queue { self.recent = nil }
    self.emptiedQueues.removeAll { $0 === queue }
  }

  private mutating func makeNode(for store: IdleStore, _ cache: ObjectIdentifier) -> IdleNode {
    if store.entry.client.cache == cache { return store.entry }
    let node = ForwardedIdleNode(store)
    self.forwarded[store.id] = node
    return node
  }

  private func node(_ id: IdleStore.ID, for cache: ObjectIdentifier) -> IdleNode? {
    id.entry.client.cache == cache ? id.entry : self.forwarded[id]
  }

  /// Since when a store is idle, and its queue; nil if it is in none.
  func place(of id: IdleStore.ID, for cache: ObjectIdentifier) -> (since: Duration, queue: IdleQueue)? {
    self.node(id, for: cache).flatMap { node in node.links.queue.map { (node.links.since, $0) } }
  }

  /// Removes a store, if it is in a queue.
  mutating func remove(_ id: IdleStore.ID, for cache: ObjectIdentifier) -> Removal? {
    self.node(id, for: cache).flatMap { self.remove($0) }
  }

  private mutating func remove(_ node: IdleNode) -> Removal? {
    guard let queue = node.links.queue else { return nil }
    queue.remove(node)
    self.count -= 1
    if !self.forwarded.isEmpty, node is ForwardedIdleNode { self.forwarded[node.idleStore.id] = nil }
    guard queue.first == nil else { return Removal(node: node) }
    if queue.alarm.isTaken { return Removal(node: node, queue: self.keepEmpty(queue)) }
    self.removeQueue(queue)
    return Removal(node: node, queue: queue)
  }

  /// Keeps an empty queue with its alarm, and returns the oldest such queue when there are more than eight.
  ///
  /// The alarm stays so that a store that becomes idle repeatedly does not schedule an alarm each time.
  private mutating func keepEmpty(_ queue: IdleQueue) -> IdleQueue? {
    guard self.emptiedQueues.last !== queue else { return nil }
    // The removed queues are not released: `queues` refers to them, too.
    self.emptiedQueues.removeAll { $0 === queue || $0.first != nil }
    self.emptiedQueues.append(queue)
    guard self.emptiedQueues.count > 8, let oldest = self.emptiedQueues.first else { return nil }
    self.removeQueue(oldest)
    return oldest
  }

  /// Removes the store that has been idle longest.
  mutating func removeOldest() -> Removal? {
    let oldest = self.queues.values.compactMap(\.first).min { $0.links.order < $1.links.order }
    return oldest.flatMap { self.remove($0) }
  }

  /// Removes all nodes and queues, with their alarms. The caller releases them after the lock.
  mutating func removeAll() -> (nodes: [IdleNode], queues: [IdleQueue]) {
    var nodes: [IdleNode] = []
    for queue in self.queues.values {
      while let node = queue.first {
        queue.remove(node)
        nodes.append(node)
      }
    }
    defer { self = IdleStoreQueues() }
    return (nodes, Array(self.queues.values))
  }

  /// Reserves the alarm of a queue if the queue needs one. The caller then schedules it.
  ///
  /// - Returns: The number of the alarm, and the time at which the oldest store became idle; nil if no alarm is needed.
  func alarmIfNeeded(for queue: IdleQueue) -> (number: UInt64, since: Duration)? {
    guard !queue.alarm.isTaken, let first = queue.first else { return nil }
    return (queue.alarm.reserve(), first.links.since)
  }

  /// Stores a scheduled alarm, and returns it if it has already fired or the queue has been removed. The caller cancels
  /// it.
  func keep(_ alarm: OperationSubscription, number: UInt64, for queue: IdleQueue) -> OperationSubscription? {
    guard self.queues[queue.key] === queue else { return alarm }
    return queue.alarm.keep(alarm, number: number)
  }

  /// Removes the stores whose cache time has passed, and returns them with the alarm that has fired.
  mutating func removeExpired(from queue: IdleQueue, now: Duration) -> ([IdleStore], OperationSubscription?) {
    let fired = queue.alarm.clear()
    var expired: [IdleStore] = []
    while let node = queue.first, now - node.links.since >= queue.key.cacheTime {
      _ = self.remove(node)  // Not released here: the returned store refers to the node, and the caller to the queue.
      expired.append(node.idleStore)
    }
    if queue.first == nil, self.queues[queue.key] === queue {
      self.removeQueue(queue)
    }
    return (expired, fired)
  }
}
