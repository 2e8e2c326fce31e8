public import OperationCore

extension OperationRequest {
  /// Sets the levels of memory pressure at which a client drops the idle store of the operation.
  ///
  /// This needs a cache with a source of memory pressure: see
  /// ``OperationCore/OperationClient/DefaultStoreCache/init(maximumIdleStores:memoryPressureSource:)``. A store that
  /// has subscribers, is running, or is referenced elsewhere is never dropped.
  ///
  /// - Parameter pressure: The levels; an empty set keeps the store at any level. The default is
  ///   ``MemoryPressure/defaultEvictable``.
  /// - Returns: The operation with the levels in its context.
  public func evictWhen(pressure: MemoryPressure) -> ContextModifiedOperation<Self> {
    self.context { $0.evictableMemoryPressure = pressure }.written(".evictWhen(pressure: \(pressure))")
  }
}

extension OperationContext {
  /// The levels of memory pressure at which a client drops the idle store. The default is warning and critical.
  public var evictableMemoryPressure: MemoryPressure {
    get { self[EvictableMemoryPressureKey.self] }
    set { self[EvictableMemoryPressureKey.self] = newValue }
  }

  private enum EvictableMemoryPressureKey: Key {
    static let defaultValue = MemoryPressure.defaultEvictable
  }
}
