/// Idle stores in the order in which they became idle, one queue for each cache time. All operations but `removeOldest()`,
/// which looks at each queue, take constant time.
struct IdleStoreQueues: Sendable {
  typealias IdleStore = OperationClient.IdleStore

  private struct Node: Sendable {
    let store: IdleStore
    let cacheTime: Duration
    let since: Duration
    let order: UInt64
    var previous: IdleStore.ID?
    var next: IdleStore.ID?
  }

  private struct Queue: Sendable {
    var first: IdleStore.ID?
    var last: IdleStore.ID?
    var alarm = Alarm.off
  }

  private enum Alarm: Sendable {
    case off
    /// Somebody is about to schedule it.
    case pending
    case on(OperationSubscription)

    var isOff: Bool {
      if case .off = self { true } else { false }
    }
  }

  private var nodes: [IdleStore.ID: Node] = [:]
  private var queues: [Duration: Queue] = [:]
  /// The cache times whose queues are empty while their alarms are on, the latest last. They are few.
  private var vacancies: [Duration] = []
  private var lastOrder: UInt64 = 0

  var count: Int { self.nodes.count }

  /// Whether there is neither a store nor an alarm that waits for one.
  var isEmpty: Bool { self.queues.isEmpty }

  /// All idle stores, the oldest first.
  var all: [IdleStore] { self.nodes.values.sorted { $0.order < $1.order }.map(\.store) }

  /// What was taken out. The caller releases it after the lock.
  struct Removal: Sendable {
    let store: IdleStore
    /// An alarm that nobody needs any more.
    var alarm: OperationSubscription?
  }

  /// Adds a store, and takes out what was there of it.
  mutating func insert(_ store: IdleStore, cacheTime: Duration, since: Duration) -> Removal? {
    let removal = self.remove(store.id)
    self.vacancies.removeAll { $0 == cacheTime }
    self.lastOrder += 1
    var queue = self.queues[cacheTime] ?? Queue()
    self.nodes[store.id] = Node(
      store: store,
      cacheTime: cacheTime,
      since: since,
      order: self.lastOrder,
      previous: queue.last
    )
    if let last = queue.last { self.nodes[last]?.next = store.id } else { queue.first = store.id }
    queue.last = store.id
    self.queues[cacheTime] = queue
    return removal
  }

  mutating func remove(_ id: IdleStore.ID) -> Removal? {
    guard let node = self.nodes.removeValue(forKey: id), var queue = self.queues[node.cacheTime] else { return nil }
    if let previous = node.previous { self.nodes[previous]?.next = node.next } else { queue.first = node.next }
    if let next = node.next { self.nodes[next]?.previous = node.previous } else { queue.last = node.previous }
    let isVacant = queue.first == nil
    self.queues[node.cacheTime] = isVacant && queue.alarm.isOff ? nil : queue
    return Removal(store: node.store, alarm: isVacant && !queue.alarm.isOff ? self.vacate(node.cacheTime) : nil)
  }

  /// Keeps the alarm of a queue that has become empty, so that a store that comes and goes sets none each time, and gives
  /// up the oldest of such alarms when they become many.
  private mutating func vacate(_ cacheTime: Duration) -> OperationSubscription? {
    self.vacancies.append(cacheTime)
    guard self.vacancies.count > 8 else { return nil }
    // One that is still to be scheduled will find its queue gone, and is cancelled then.
    guard case .on(let alarm) = self.queues.removeValue(forKey: self.vacancies.removeFirst())?.alarm else { return nil }
    return alarm
  }

  mutating func removeOldest() -> Removal? {
    let heads = self.queues.values.compactMap { queue in queue.first.flatMap { self.nodes[$0] } }
    let oldest = heads.min { $0.order < $1.order }
    return oldest.flatMap { self.remove($0.store.id) }
  }

  /// Whether nobody has set an alarm for the stores of a cache time, nor is about to.
  func isAlarmOff(for cacheTime: Duration) -> Bool { self.queues[cacheTime]?.alarm.isOff ?? false }

  /// Since when the oldest store of a cache time is idle, if an alarm has to be set for it. The caller then sets it.
  mutating func alarmIfNeeded(for cacheTime: Duration) -> Duration? {
    guard case .off = self.queues[cacheTime]?.alarm, let first = self.queues[cacheTime]?.first else { return nil }
    self.queues[cacheTime]?.alarm = .pending
    return self.nodes[first]?.since
  }

  /// Takes the alarm that was asked for; false when it has fired by now.
  mutating func keep(_ alarm: OperationSubscription, for cacheTime: Duration) -> Bool {
    guard case .pending = self.queues[cacheTime]?.alarm else { return false }
    self.queues[cacheTime]?.alarm = .on(alarm)
    return true
  }

  /// Takes out what has been idle for its cache time, with the alarm that has fired for it.
  mutating func removeExpired(_ cacheTime: Duration, now: Duration) -> ([IdleStore], OperationSubscription?) {
    guard let queue = self.queues[cacheTime] else { return ([], nil) }
    var fired: OperationSubscription?
    if case .on(let alarm) = queue.alarm { fired = alarm }
    self.queues[cacheTime]?.alarm = .off
    var expired: [IdleStore] = []
    while let id = self.queues[cacheTime]?.first, let node = self.nodes[id], now - node.since >= cacheTime {
      _ = self.remove(id)
      expired.append(node.store)
    }
    if self.queues[cacheTime]?.first == nil {
      self.queues[cacheTime] = nil
      self.vacancies.removeAll { $0 == cacheTime }
    }
    return (expired, fired)
  }
}
