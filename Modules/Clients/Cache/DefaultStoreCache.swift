public import OperationFoundation

extension OperationClient {
  /// Evicts idle stores after their cache time, when too many are idle, or when a trigger requests it.
  ///
  /// Above the maximum number of idle stores, the store that has been idle longest is evicted first.
  public final class DefaultStoreCache: StoreCache {
    private let maximumIdleStores: Int
    private let state = Locked(IdleStoreQueues())
    private let link: EvictionLink?

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - maximumIdleStores: The maximum number of idle stores. A negative number is reported and counts as zero.
    ///   - evictionTrigger: Evicts idle stores before their cache time has passed. The cache subscribes to it while it
    ///     has idle stores.
    public init(maximumIdleStores: Int = 10_000, evictionTrigger: (any EvictionTrigger)? = nil) {
      if maximumIdleStores < 0 {
        OperationWarning(
          code: .invalidArgument,
          message: "A cache cannot keep \(maximumIdleStores) idle stores. It keeps none. Pass 0 or more."
        ).report()
      }
      self.maximumIdleStores = max(0, maximumIdleStores)
      self.link = evictionTrigger.map { EvictionLink(trigger: $0) }
    }

    deinit {
      self.link?.turnOff()
      // Removed one by one: releasing a linked list from its head recurses, which may overflow the stack.
      let removed = self.state.withLock { $0.removeAll() }
      withExtendedLifetime(removed) {}  // Released after unlocking.
    }

    public func storeDidBecomeIdle(_ store: IdleStore) {
      let context = store.context
      let deadlines = context.operationDeadlines
      let key = IdleQueue.Key(cacheTime: context.operationCacheTime, source: DeadlineSourceID(deadlines))
      let elapsed = deadlines.elapsed
      let (replaced, surplus, queue) = self.state.withLock { queues in
        let cache = ObjectIdentifier(self)
        let (replaced, queue) = queues.insert(store, key: key, deadlines: deadlines, since: elapsed, for: cache)
        let surplus = queues.count > self.maximumIdleStores ? queues.removeOldest() : nil
        return (replaced, surplus, queue.alarm.isTaken ? nil : queue)
      }
      _ = consume replaced  // Released after unlocking.
      surplus?.node.idleStore.evict(because: OperationRunCause(.idleStoreLimit(self.maximumIdleStores)))
      if let queue { self.setAlarm(for: queue) }
      // An active subscription needs no update: the thread that ends it checks for idle stores again.
      if let link = self.link, link.isOff { self.updateLink() }
    }

    public func storeDidBecomeActive(_ id: IdleStore.ID) {
      let removed = self.state.withLock { $0.remove(id, for: ObjectIdentifier(self)) }
      _ = consume removed  // Released after unlocking.
    }

    public func evictionDate(of store: IdleStore) -> Date? {
      let place = self.state.withLock { $0.place(of: store.id, for: ObjectIdentifier(self)) }
      guard let (since, queue) = place else { return nil }
      // The cache time passes by the deadlines, which the clock need not follow.
      let rest = since + queue.key.cacheTime.clampedForClock - queue.deadlines.elapsed
      return store.context.date.addingTimeInterval(max(rest, .zero).seconds)
    }

    /// Evicts the idle stores whose contexts satisfy a condition.
    ///
    /// - Parameter isEvicted: Returns whether to evict the store with a context. Called with no lock held.
    /// - Complexity: O(*n* log *n*) in the number of idle stores.
    public func evictIdleStores(where isEvicted: (OperationContext) -> Bool) {
      self.evictIdleStores(because: .ofCurrentCode(), where: isEvicted)
    }

    private func evictIdleStores(because cause: OperationRunCause, where isEvicted: (OperationContext) -> Bool) {
      let stores = self.state.withLock { $0.all }
      for store in stores where isEvicted(store.context) {
        let removed = self.state.withLock { $0.remove(store.id, for: ObjectIdentifier(self)) }
        if removed != nil { store.evict(because: cause) }
      }
    }

    /// Schedules the alarm of a queue for the time at which its oldest store is to be evicted.
    private func setAlarm(for queue: IdleQueue) {
      guard let (number, oldest) = self.state.withLock({ $0.alarmIfNeeded(for: queue) }) else { return }
      let (deadlines, cacheTime) = (queue.deadlines, queue.key.cacheTime)
      let rest = oldest + cacheTime.clampedForClock - deadlines.elapsed
      let alarm = deadlines.schedule(after: rest) { [weak self, weak queue] in
        if let queue { self?.evictExpired(from: queue) }
      }
      self.state.withLock { $0.keep(alarm, number: number, for: queue) }?.cancel()
    }

    private func evictExpired(from queue: IdleQueue) {
      let now = queue.deadlines.elapsed
      let (expired, alarm) = self.state.withLock { $0.removeExpired(from: queue, now: now) }
      _ = consume alarm  // Released after unlocking.
      let cause = OperationRunCause(.cacheTime(queue.key.cacheTime))
      for store in expired { store.evict(because: cause) }
      self.setAlarm(for: queue)
      self.updateLink()
    }

    /// Subscribes to the trigger while the cache has idle stores.
    ///
    /// After the last idle store is in use again or removed, the subscription stays until the next alarm.
    private func updateLink() {
      guard let link = self.link else { return }
      if self.state.withLock({ $0.isEmpty }) {
        link.turnOff()
        // A store that became idle meanwhile may have found the link on.
        if self.state.withLock({ $0.isEmpty }) { return }
      }
      if link.isOff {
        link.turnOn { [weak self, cause = link.cause] in self?.evictIdleStores(because: cause, where: $0) }
      }
    }
  }
}

extension OperationContext {
  /// How long a client keeps the store while it is idle: five minutes by default.
  ///
  /// A negative time is reported and counts as zero.
  public var operationCacheTime: Duration {
    get { self[CacheTimeKey.self] }
    set { self[CacheTimeKey.self] = newValue.reportedIfNegative(in: "cacheTime(_:)") }
  }

  private enum CacheTimeKey: Key {
    static let defaultValue = Duration.seconds(300)
  }
}

extension OperationRequest {
  /// Lets a client evict the store of the operation after it has been idle for `duration`.
  ///
  /// - Parameter duration: The time. A negative one is reported and counts as zero.
  /// - Returns: The operation with the cache time in its context.
  public func cacheTime(_ duration: Duration) -> ContextModifiedOperation<Self> {
    // Validated once, not for each store.
    let duration = duration.reportedIfNegative(in: "cacheTime(_:)")
    return self.context { $0.operationCacheTime = duration }.written(".cacheTime(\(duration.roundedText))")
  }
}
