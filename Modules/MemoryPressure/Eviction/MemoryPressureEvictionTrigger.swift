public import OperationCore

/// Lets idle stores go at the levels of memory pressure that their operations name.
///
/// The level at which a cache begins to listen counts only where it is raised: that memory is not short is no event.
public struct MemoryPressureEvictionTrigger: OperationClient.EvictionTrigger {
  private let source: any MemoryPressureSource & Sendable

  /// Creates a trigger.
  public init(source: some MemoryPressureSource & Sendable) {
    self.source = source
  }

  /// Calls `evict` for the present level if that is raised, and for each that follows.
  public func subscribe(
    _ evict: @escaping @Sendable (_ isEvicted: (OperationContext) -> Bool) -> Void
  ) -> OperationSubscription {
    let isOpening = Switch(true)
    return self.source.subscribe { pressure in
      let isFirst = isOpening.set(false)
      if isFirst, pressure == .normal { return }
      evict { !$0.evictableMemoryPressure.isDisjoint(with: pressure) }
    }
  }
}

extension OperationClient.DefaultStoreCache {
  /// Creates a cache that also drops idle stores when memory runs short.
  ///
  /// - Parameters:
  ///   - maximumIdleStores: How many stores may be idle before the ones that have been so longest go.
  ///   - memoryPressureSource: Tells of memory pressure. It is subscribed to while there are idle stores.
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
