public import OperationCore

/// Drops idle stores at the levels of memory pressure that their operations allow.
///
/// The first level after subscribing is ignored if it is normal.
public struct MemoryPressureEvictionTrigger: OperationClient.EvictionTrigger {
  private let source: any MemoryPressureSource & Sendable

  /// Creates a trigger.
  ///
  /// - Parameter source: The source that reports memory pressure.
  public init(source: some MemoryPressureSource & Sendable) {
    self.source = source
  }

  /// Calls `evict` for the current level if it is raised, and for each level that follows.
  ///
  /// - Parameter evict: Drops the idle stores for whose context its argument returns true.
  /// - Returns: A subscription whose cancellation or release ends the calls.
  public func subscribe(
    _ evict: @escaping @Sendable (_ isEvicted: (OperationContext) -> Bool) -> Void
  ) -> OperationSubscription {
    let isOpening = AtomicFlag(true)
    return self.source.subscribe { pressure in
      let isFirst = isOpening.set(false)
      if isFirst, pressure == .normal { return }
      evict { !$0.evictableMemoryPressure.isDisjoint(with: pressure) }
    }
  }
}

extension MemoryPressureEvictionTrigger: CustomStringConvertible {
  /// The reason of the evictions: `memory pressure`.
  public var description: String { "memory pressure" }
}

extension OperationClient.DefaultStoreCache {
  /// Creates a cache that also drops idle stores when memory runs short.
  ///
  /// - Parameters:
  ///   - maximumIdleStores: The number of idle stores above which the ones that have been idle for longest are dropped.
  ///   - memoryPressureSource: Reports memory pressure. The cache subscribes to it while there are idle stores.
  public convenience init(
    maximumIdleStores: Int = 10_000,
    memoryPressureSource: some MemoryPressureSource & Sendable
  ) {
    self.init(
      maximumIdleStores: maximumIdleStores,
      evictionTrigger: MemoryPressureEvictionTrigger(source: memoryPressureSource)
    )
  }
}
