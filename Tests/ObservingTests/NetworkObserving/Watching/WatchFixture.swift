#if os(Linux)
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationNetworkObserving

  /// An observer of a fake kernel, with a clock that the test advances.
  struct WatchFixture {
    let kernel: FakeKernel
    let clock = ManualClock()
    let loop = EventLoop()
    let log = Receiver<NetworkConnectionStatus>()
    let observer: NetlinkNetworkObserver

    /// - Parameters:
    ///   - snapshot: The state of the network that the kernel reports at first.
    ///   - deliver: Calls the subscribers; at once by default.
    init(
      _ snapshot: NetworkSnapshot = .online,
      deliver: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }
    ) {
      self.kernel = FakeKernel(snapshot)
      var settings = WatchSettings()
      settings.system = self.kernel.system
      settings.loop = self.loop
      settings.deadlines = self.clock
      settings.deliver = deliver
      self.observer = NetlinkNetworkObserver(requirement: .defaultRoute, excluding: nil, settings: settings)
    }

    func subscribe() -> OperationSubscription {
      self.observer.subscribe { [log] in log.receive($0) }
    }

    /// Changes the network, and waits until the observer has received the notification.
    func change(_ body: (inout NetworkSnapshot) -> Void) async throws {
      self.kernel.change(body)
      try await self.loop.settle()
    }
  }
#endif
