public import OperationCore

extension OperationRequest {
  /// Says at which levels of memory pressure a client drops the idle store of the operation.
  ///
  /// It takes a cache that hears of memory pressure: see
  /// ``OperationCore/OperationClient/DefaultStoreCache/init(maximumIdleStores:memoryPressureSource:)``. A store that has
  /// subscribers, runs, or is held by somebody stays, whatever the pressure.
  ///
  /// - Parameter pressure: The levels; an empty set for none. Without this modifier it is
  ///   ``MemoryPressure/defaultEvictable``.
  public func evictWhen(pressure: MemoryPressure) -> ContextModifiedOperation<Self> {
    self.context { $0.evictableMemoryPressure = pressure }
  }
}

extension OperationContext {
  /// The levels of memory pressure at which a client drops the store when it is idle. Warning and critical by default.
  public var evictableMemoryPressure: MemoryPressure {
    get { self[EvictableMemoryPressureKey.self] }
    set { self[EvictableMemoryPressureKey.self] = newValue }
  }

  private enum EvictableMemoryPressureKey: Key {
    static let defaultValue = MemoryPressure.defaultEvictable
  }
}
