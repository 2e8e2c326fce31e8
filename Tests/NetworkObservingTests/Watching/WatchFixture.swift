#if os(Linux)
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import Testing

  @testable import OperationNetworkObserving

  /// An observer of a fake kernel, in time that the test lets pass.
  struct WatchFixture {
    let kernel: FakeKernel
    let clock = ManualClock()
    let loop = EventLoop()
    let log = StatusLog()
    let observer: NetlinkNetworkObserver

    /// - Parameter deliver: Calls the subscribers; at once by default.
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
      self.observer.subscribe { [log] in log.append($0) }
    }

    /// Changes the network, and waits until the observer knows that something has changed.
    func change(_ body: (inout NetworkSnapshot) -> Void) async throws {
      self.kernel.change(body)
      try await self.loop.settle()
    }
  }

  extension EventLoop {
    /// Waits until the loop has seen all that has happened before.
    func settle() async throws {
      let turn = Gate()
      let registration = self.schedule(after: .zero) { turn.open() }
      try await turn.wait()
      registration.cancel()
    }
  }
#endif
