public import OperationCore
internal import OperationMemoryPressure

extension OperationClient.StoreCache where Self == OperationClient.DefaultStoreCache {
  /// Drops idle stores after their cache time, when there are too many, and on Linux when memory runs short.
  ///
  /// If there are too many, those that have been idle for longest are dropped. See
  /// ``/OperationMemoryPressure/CgroupMemoryPressureSource`` for memory pressure, which is not observed under a test
  /// runner.
  ///
  /// - Parameter maximumIdleStores: The number of idle stores above which the ones that have been idle for longest are
  ///   dropped.
  /// - Returns: A cache that has no stores yet.
  public static func `default`(maximumIdleStores: Int = 10_000) -> Self {
    #if os(Linux)
      if !TestRunner.isRunning {
        return Self(maximumIdleStores: maximumIdleStores, memoryPressureSource: .cgroup)
      }
    #endif
    return Self(maximumIdleStores: maximumIdleStores)
  }
}
