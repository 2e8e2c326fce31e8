public import OperationCore
internal import OperationMemoryPressure

extension OperationClient.StoreCache where Self == OperationClient.DefaultStoreCache {
  /// Lets idle stores go after their cache time, the oldest ones where there are too many, and on Linux any when memory
  /// runs short: see ``/OperationMemoryPressure/CgroupMemoryPressureSource``. Under a test runner nobody looks at memory.
  ///
  /// - Parameter maximumIdleStores: How many stores may be idle before the ones that have been so longest go.
  public static func `default`(maximumIdleStores: Int = 10_000) -> Self {
    #if os(Linux)
      if !TestRunner.isRunning {
        return Self(maximumIdleStores: maximumIdleStores, memoryPressureSource: .cgroup)
      }
    #endif
    return Self(maximumIdleStores: maximumIdleStores)
  }
}
