internal import Synchronization

extension OperationClient {
  /// Lets idle stores go after their cache time, the oldest ones where there are too many, and any when a trigger says so.
  public final class DefaultStoreCache: StoreCache {
    private let maximumIdleStores: Int
    private let state = Mutex(IdleStoreQueues())
    private let link: EvictionLink?

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - maximumIdleStores: How many stores may be idle before the ones that have been so longest go.
    ///   - evictionTrigger: Says when idle stores go before their time. It is subscribed to while there are any.
    public init(maximumIdleStores: Int = 10_000, evictionTrigger: (any EvictionTrigger)? = nil) {
      if maximumIdleStores < 0 {
        OperationWarning(
          code: .invalidArgument,
          message: "A cache of \(maximumIdleStores) idle stores cannot be. It keeps none; pass 0 or more."
        ).report()
      }
      self.maximumIdleStores = max(0, maximumIdleStores)
      self.link = evictionTrigger.map { EvictionLink(trigger: $0) }
    }

    deinit {
      self.link?.turnOff()
      // One after the other, as a chain that goes with its first link may be too long for the stack.
      let removed = self.state.withLock { $0.removeAll() }
      withExtendedLifetime(removed) {}  // Until here, after the lock.
    }

    public func storeDidBecomeIdle(_ store: IdleStore) {
      let context = store.context
      let cacheTime = max(context.operationCacheTime, .zero)
      let deadlines = context.operationDeadlines
      let elapsed = deadlines.elapsed
      let (replaced, surplus, isAlarmOff) = self.state.withLock { queues in
        let replaced = queues.insert(store, cacheTime: cacheTime, since: elapsed, for: ObjectIdentifier(self))
        let surplus = queues.count > self.maximumIdleStores ? queues.removeOldest() : nil
        return (replaced, surplus, queues.isAlarmOff(for: cacheTime))
      }
      _ = consume replaced  // Released after the lock.
      surplus?.node.idleStore.evict()
      if isAlarmOff { self.setAlarm(for: cacheTime, on: deadlines) }
      self.updateLink()
    }

    public func storeDidBecomeActive(_ id: IdleStore.ID) {
      let removed = self.state.withLock { $0.remove(id, for: ObjectIdentifier(self)) }
      _ = consume removed  // Released after the lock.
    }

    /// Lets the idle stores go whose context satisfies a condition.
    public func evictIdleStores(where isEvicted: (OperationContext) -> Bool) {
      let stores = self.state.withLock { $0.all }
      for store in stores where isEvicted(store.context) {
        let removed = self.state.withLock { $0.remove(store.id, for: ObjectIdentifier(self)) }
        if removed != nil { store.evict() }
      }
    }

    /// One deadline for all stores with the same cache time: that of the oldest one.
    private func setAlarm(for cacheTime: Duration, on deadlines: any DeadlineSource) {
      let oldest = self.state.withLock { $0.alarmIfNeeded(for: cacheTime) }
      guard let oldest else { return }
      let alarm = deadlines.schedule(after: oldest + cacheTime.clampedForClock - deadlines.elapsed) { [weak self] in
        self?.evictExpired(cacheTime, on: deadlines)
      }
      let isObsolete = self.state.withLock { !$0.keep(alarm, for: cacheTime) }
      if isObsolete { alarm.cancel() }
    }

    private func evictExpired(_ cacheTime: Duration, on deadlines: any DeadlineSource) {
      let now = deadlines.elapsed
      let (expired, alarm) = self.state.withLock { $0.removeExpired(cacheTime, now: now) }
      _ = consume alarm  // Released after the lock.
      for store in expired { store.evict() }
      self.setAlarm(for: cacheTime, on: deadlines)
      self.updateLink()
    }

    /// Listens to the trigger while there are idle stores, and until the next alarm.
    private func updateLink() {
      guard let link = self.link else { return }
      if self.state.withLock({ $0.isEmpty }) {
        link.turnOff()
        // One that has become idle meanwhile may have found the link on.
        if self.state.withLock({ $0.isEmpty }) { return }
      }
      if link.isOff { link.turnOn { [weak self] isEvicted in self?.evictIdleStores(where: isEvicted) } }
    }
  }
}

extension OperationContext {
  /// How long a client keeps the store when it is idle. Five minutes by default.
  public var operationCacheTime: Duration {
    get { self[CacheTimeKey.self] }
    set { self[CacheTimeKey.self] = newValue }
  }

  private enum CacheTimeKey: Key {
    static let defaultValue = Duration.seconds(300)
  }
}

extension OperationRequest {
  /// Lets a client drop the store of the operation when it has been idle for `duration`.
  public func cacheTime(_ duration: Duration) -> ContextModifiedOperation<Self> {
    self.context { $0.operationCacheTime = duration }
  }
}
