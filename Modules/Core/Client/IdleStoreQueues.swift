/// Idle stores in the order in which they became idle, one queue for each cache time. All operations but `removeOldest()`,
/// which looks at each queue, take constant time.
///
/// The queues go through the entries of the stores. An entry serves the cache of its client alone; where a cache is told of
/// stores by another one, it makes nodes of its own for them.
struct IdleStoreQueues: Sendable {
  typealias IdleStore = OperationClient.IdleStore

  private var queues: [Duration: IdleQueue] = [:]
  /// The queue that was used last: nearly all stores have the same cache time.
  private var recent: IdleQueue?
  /// The cache times whose queues are empty while their alarms are on, the latest last. They are few.
  private var vacancies: [Duration] = []
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
    /// An alarm that nobody needs any more.
    var alarm: OperationSubscription?
  }

  /// Adds a store, and takes out what was there of it.
  ///
  /// - Parameter cache: The cache whose queues these are.
  mutating func insert(
    _ store: IdleStore,
    cacheTime: Duration,
    since: Duration,
    for cache: ObjectIdentifier
  ) -> Removal? {
    let removal = self.remove(store.id, for: cache)
    if !self.vacancies.isEmpty { self.vacancies.removeAll { $0 == cacheTime } }
    self.lastOrder += 1
    self.count += 1
    self.makeQueue(for: cacheTime).append(self.makeNode(for: store, cache), since: since, order: self.lastOrder)
    return removal
  }

  private mutating func makeQueue(for cacheTime: Duration) -> IdleQueue {
    if let queue = self.queue(for: cacheTime) {
      self.recent = queue
      return queue
    }
    let queue = IdleQueue(cacheTime: cacheTime)
    self.queues[cacheTime] = queue
    self.recent = queue
    return queue
  }

  private func queue(for cacheTime: Duration) -> IdleQueue? {
    if let recent = self.recent, recent.cacheTime == cacheTime { recent } else { self.queues[cacheTime] }
  }

  private mutating func removeQueue(_ queue: IdleQueue) {
    self.queues[queue.cacheTime] = nil
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
    if !queue.alarm.isOff { return Removal(node: node, alarm: self.vacate(queue.cacheTime)) }
    self.removeQueue(queue)
    return Removal(node: node)
  }

  /// Keeps the alarm of a queue that has become empty, so that a store that comes and goes sets none each time, and gives
  /// up the oldest of such alarms when they become many.
  private mutating func vacate(_ cacheTime: Duration) -> OperationSubscription? {
    self.vacancies.append(cacheTime)
    guard self.vacancies.count > 8, let queue = self.queues[self.vacancies.removeFirst()] else { return nil }
    self.removeQueue(queue)
    // One that is still to be scheduled will find its queue gone, and is cancelled then.
    guard case .on(let alarm) = queue.alarm else { return nil }
    return alarm
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

  /// Whether nobody has set an alarm for the stores of a cache time, nor is about to.
  func isAlarmOff(for cacheTime: Duration) -> Bool { self.queue(for: cacheTime)?.alarm.isOff ?? false }

  /// Since when the oldest store of a cache time is idle, if an alarm has to be set for it. The caller then sets it.
  func alarmIfNeeded(for cacheTime: Duration) -> Duration? {
    guard let queue = self.queue(for: cacheTime), queue.alarm.isOff, let first = queue.first else { return nil }
    queue.alarm = .pending
    return first.since
  }

  /// Takes the alarm that was asked for; false when it has fired by now.
  func keep(_ alarm: OperationSubscription, for cacheTime: Duration) -> Bool {
    guard let queue = self.queue(for: cacheTime), case .pending = queue.alarm else { return false }
    queue.alarm = .on(alarm)
    return true
  }

  /// Takes out what has been idle for its cache time, with the alarm that has fired for it.
  mutating func removeExpired(_ cacheTime: Duration, now: Duration) -> ([IdleStore], OperationSubscription?) {
    guard let queue = self.queue(for: cacheTime) else { return ([], nil) }
    var fired: OperationSubscription?
    if case .on(let alarm) = queue.alarm { fired = alarm }
    queue.alarm = .off
    var expired: [IdleStore] = []
    while let node = queue.first, now - node.since >= cacheTime {
      _ = self.remove(node)
      expired.append(node.idleStore)
    }
    if queue.first == nil {
      self.removeQueue(queue)
      self.vacancies.removeAll { $0 == cacheTime }
    }
    return (expired, fired)
  }
}
