import Operation
import OperationPersistence
import OperationPersistenceTesting
import OperationTesting
import TestFixtures
import Testing

/// The observers, controllers, caches and storages of the library keep the rules.
@Suite(.bounded, .warningsAreIssues) struct BuiltInConformanceTests {
  // MARK: - Observers

  @Test func `The mock of the network keeps the rules of observers`() async throws {
    try await checkObserver(sending: [NetworkConnectionStatus.disconnected, .requiresConnection, .connected]) {
      let observer = MockNetworkObserver(initialStatus: .connected)
      return CheckedObserver(
        subscribe: { AnySendableNetworkObserver(observer).subscribe(with: $0) },
        current: { AnySendableNetworkObserver(observer).currentStatus },
        send: { observer.send(status: $0) }
      )
    }
  }

  @Test func `The mock of activity keeps the rules of observers`() async throws {
    try await checkObserver(sending: [false, true]) {
      let observer = MockApplicationActivityObserver(isActive: true)
      return CheckedObserver(
        subscribe: { observer.subscribe($0) },
        current: { observer.isActive },
        send: { observer.send(isActive: $0) }
      )
    }
  }

  @Test func `The mock of memory pressure keeps the rules of observers`() async throws {
    try await checkObserver(sending: [MemoryPressure.warning, .critical, .normal]) {
      let source = MockMemoryPressureSource()
      return CheckedObserver(
        subscribe: { AnySendableMemoryPressureSource(source).subscribe(with: $0) },
        current: { source.currentPressure },
        send: { source.send(pressure: $0) }
      )
    }
  }

  // MARK: - Controllers

  @Test func `Polling keeps the rules of controllers`() async throws {
    try await checkController { query in
      let clock = ManualClock()
      return (query.rerun(every: .seconds(1)).manualTime(clock), { clock.advance(by: .seconds(1)) })
    }
  }

  @Test func `Rerunning on a change keeps the rules of controllers`() async throws {
    try await checkController { query in
      let network = MockNetworkObserver(initialStatus: .disconnected)
      return (query.rerunOnChange(of: .connected(to: network)), { network.reconnect() })
    }
  }

  @Test(arguments: [true, false])
  func `Two controllers keep the rules together`(isPolled: Bool) async throws {
    try await checkController { query in
      let (clock, network) = (ManualClock(), MockNetworkObserver(initialStatus: .disconnected))
      let both = query.rerunOnChange(of: .connected(to: network)).rerun(every: .seconds(1)).manualTime(clock)
      return (both, { isPolled ? clock.advance(by: .seconds(1)) : network.reconnect() })
    }
  }

  @Test func `Three controllers keep the rules together`() async throws {
    try await checkController { query in
      let (clock, network) = (ManualClock(), MockNetworkObserver(initialStatus: .disconnected))
      let activity = MockApplicationActivityObserver(isActive: false)
      let three = query.rerunOnChange(of: .connected(to: network)).rerun(every: .seconds(1))
        .rerunOnChange(of: .applicationIsActive(observer: activity)).manualTime(clock)
      return (
        three,
        {
          activity.send(isActive: false)
          activity.send(isActive: true)
        }
      )
    }
  }

  // MARK: - Caches

  @Test func `The default cache keeps the rules of caches`() async throws {
    try await checkStoreCache { OperationClient.DefaultStoreCache() }
    try await checkStoreCache { OperationClient.DefaultStoreCache.default() }
  }

  @Test func `The default cache with a trigger keeps the rules of caches`() async throws {
    try await checkStoreCache {
      OperationClient.DefaultStoreCache(memoryPressureSource: MockMemoryPressureSource(initialPressure: .normal))
    }
  }

  @Test func `A cache for no idle stores breaks one rule on purpose`() async throws {
    try await checkStoreCache(except: [.keeping, .cacheTime, .activity, .clients]) {
      OperationClient.DefaultStoreCache(maximumIdleStores: 0)
    }
  }

  // MARK: - Storages

  @Test func `The storage in memory keeps the rules of storages`() async throws {
    try await checkStorage { InMemoryStorage() }
  }
}

extension MockNetworkObserver {
  /// Loses the network, and finds it again.
  fileprivate func reconnect() {
    self.send(status: .disconnected)
    self.send(status: .connected)
  }
}
