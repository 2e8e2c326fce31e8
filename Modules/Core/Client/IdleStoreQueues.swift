/// Idle stores in the order in which they became idle, one queue for each cache time by each source of deadlines. All
/// operations but `removeOldest()`, which looks at each queue, take constant time.
///
/// The queues go through the entries of the stores. An entry serves the cache of its client alone; where a cache is told of
/// stores by another one, it makes nodes of its own for them.
struct IdleStoreQueues: Sendable {
  typealias IdleStore = OperationClient.IdleStore

  private var queues: [IdleQueue.Key: IdleQueue] = [:]
  /// The queue that was used last: nearly all stores have the same cache time.
  private var recent: IdleQueue?
  /// The queues that are empty while their alarms are on, the latest last. They are few.
  private var vacancies: [IdleQueue] = []
  private var forwarded: [IdleStore.ID: ForwardedIdleNode] = [:]
  private var lastOrder: UInt64 = 0
  private(set) var count = 0

  /// Whether there is neither a store nor an alarm that waits for one.
  var isEmpty: Bool { self.queues.isEmpty }

  /// All idle stores, the oldest first.
  var all: [IdleStore] {
    var nodes: [IdleNode] = []
    for queue in self.queues.values {
      var next = queue.first
      while let node = next {
        nodes.append(node)
        next = node.next
      }
    }
    return nodes.sorted { $0.order < $1.order }.map(\.idleStore)
  }

  /// What was taken out. The caller releases it after the lock.
  struct Removal: Sendable {
    let node: IdleNode
    /// A queue that is not needed any more, with its alarm.
    var queue: IdleQueue?
  }

  /// Adds a store, and takes out what was there of it.
  ///
  /// - Parameter cache: The cache whose queues these are.
  /// - Returns: What was taken out, and the queue that the store is in.
  mutating func insert(
    _ store: IdleStore,
    key: IdleQueue.Key,
    deadlines: any DeadlineSource,
    since: Duration,
    for cache: ObjectIdentifier
  ) -> (removal: Removal?, queue: IdleQueue) {
    let removal = self.remove(store.id, for: cache)
    let queue = self.queue(for: key, on: deadlines)
    if !self.vacancies.isEmpty { self.vacancies.removeAll { $0 === queue } }
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
  }

  private mutating func makeNode(for store: IdleStore, _ cache: ObjectIdentifier) -> IdleNode {
    if store.entry.client.cache == cache { return store.entry }
    let node = ForwardedIdleNode(store)
    self.forwarded[store.id] = node
    return node
  }

  mutating func remove(_ id: IdleStore.ID, for cache: ObjectIdentifier) -> Removal? {
    let node = id.entry.client.cache == cache ? id.entry : self.forwarded[id]
    return node.flatMap { self.remove($0) }
  }

  private mutating func remove(_ node: IdleNode) -> Removal? {
    guard let queue = node.queue else { return nil }
    queue.remove(node)
    self.count -= 1
    if node is ForwardedIdleNode { self.forwarded[node.idleStore.id] = nil }
    guard queue.first == nil else { return Removal(node: node) }
    if !queue.alarm.isOff { return Removal(node: node, queue: self.vacate(queue)) }
    self.removeQueue(queue)
    return Removal(node: node, queue: queue)
  }

  /// Keeps the alarm of a queue that has become empty, so that a store that comes and goes sets none each time, and gives
  /// up the oldest of such queues when they become many.
  private mutating func vacate(_ queue: IdleQueue) -> IdleQueue? {
    self.vacancies.append(queue)
    guard self.vacancies.count > 8 else { return nil }
    let oldest = self.vacancies.removeFirst()
    self.removeQueue(oldest)
    return oldest
  }

  mutating func removeOldest() -> Removal? {
    let oldest = self.queues.values.compactMap(\.first).min { $0.order < $1.order }
    return oldest.flatMap { self.remove($0) }
  }

  /// Takes out all stores, which the caller releases after the lock, with the queues and their alarms.
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

  /// Since when the oldest store of a queue is idle, if an alarm has to be set for it. The caller then sets it.
  func alarmIfNeeded(for queue: IdleQueue) -> Duration? {
    guard queue.alarm.isOff, let first = queue.first else { return nil }
    queue.alarm = .pending
    return first.since
  }

  /// Takes the alarm that was asked for; false when it has fired by now, or the queue is gone.
  func keep(_ alarm: OperationSubscription, for queue: IdleQueue) -> Bool {
    guard case .pending = queue.alarm, self.queues[queue.key] === queue else { return false }
    queue.alarm = .on(alarm)
    return true
  }

  /// Takes out what has been idle for its cache time, with the alarm that has fired for it.
  mutating func removeExpired(from queue: IdleQueue, now: Duration) -> ([IdleStore], OperationSubscription?) {
    var fired: OperationSubscription?
    if case .on(let alarm) = queue.alarm { fired = alarm }
    queue.alarm = .off
    var expired: [IdleStore] = []
    while let node = queue.first, now - node.since >= queue.key.cacheTime {
      _ = self.remove(node)  // Held by what is returned, and the queue by the caller.
      expired.append(node.idleStore)
    }
    if queue.first == nil, self.queues[queue.key] === queue {
      self.removeQueue(queue)
      self.vacancies.removeAll { $0 === queue }
    }
    return (expired, fired)
  }
}
