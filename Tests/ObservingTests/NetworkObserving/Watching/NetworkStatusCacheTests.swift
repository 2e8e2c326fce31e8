#if os(Linux)
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  @testable import OperationNetworkObserving

  /// Readings of the status without subscribers, which overtake each other.
  @Suite(.bounded) struct NetworkStatusCacheTests {
    private let kernel = FakeKernel(.online)
    private let clock = ManualClock()
    private let interruption = Interruption()

    private func observer() -> NetlinkNetworkObserver {
      var settings = WatchSettings()
      settings.system = self.kernel.system
      settings.deadlines = self.clock
      // Called after the network has been read, and before the reading is stored.
      let isExcluded: @Sendable (NetlinkNetworkObserver.Interface) -> Bool = { [interruption] _ in
        interruption.happen()
        return false
      }
      return NetlinkNetworkObserver(requirement: .defaultRoute, excluding: isExcluded, settings: settings)
    }

    @Test func `An older reading does not replace a newer one`() {
      let observer = self.observer()
      expect(observer.currentStatus, equals: .connected)
      self.kernel.change { $0 = .alone }
      self.interruption.plan { [kernel] in
        kernel.change { $0 = .online }
        expect(observer.currentStatus, equals: .connected)
      }
      expect(observer.currentStatus, equals: .disconnected)
      expect(observer.currentStatus, equals: .connected)
    }

    @Test func `An older reading with new sockets does not replace a newer one`() {
      self.kernel.refuse(feed: 1)
      let observer = self.observer()
      expect(observer.currentStatus, equals: .connected)
      self.kernel.change { $0 = .alone }
      self.clock.advance(by: .seconds(5))
      self.interruption.plan { [kernel, clock] in
        kernel.change { $0 = .online }
        clock.advance(by: .seconds(5))
        expect(observer.currentStatus, equals: .connected)
      }
      expect(observer.currentStatus, equals: .disconnected)
      expect(observer.currentStatus, equals: .connected)
      expect(self.kernel.openChannelCount, equals: 1)
    }
  }

  /// Runs a closure once, during a reading.
  private final class Interruption: Sendable {
    private let plan = Mutex<(@Sendable () -> Void)?>(nil)

    func plan(_ body: @escaping @Sendable () -> Void) {
      self.plan.withLock { $0 = body }
    }

    func happen() {
      let body = self.plan.withLock { plan in
        defer { plan = nil }
        return plan
      }
      body?()
    }
  }
#endif
