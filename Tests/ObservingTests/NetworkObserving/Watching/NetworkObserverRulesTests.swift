#if os(Linux)
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationNetworkObserving

  @Suite(.bounded, .warningsAreIssues) struct NetworkObserverRulesTests {
    @Test func `The observer of the kernel follows the rules of observers`() async throws {
      try await checkObserver(sending: [NetworkConnectionStatus.disconnected, .connected]) {
        let (kernel, loop) = (FakeKernel(.online), EventLoop())
        var settings = WatchSettings()
        settings.system = kernel.system
        settings.loop = loop
        settings.deadlines = LoopDeadlines(loop: loop)
        (settings.quietPeriod, settings.maximumDelay, settings.holdOff) = (.zero, .zero, .zero)
        let observer = NetlinkNetworkObserver(requirement: .defaultRoute, excluding: nil, settings: settings)
        return CheckedObserver(
          subscribe: { observer.subscribe(with: $0) },
          current: { observer.currentStatus },
          send: { status in kernel.change { $0 = status == .connected ? .online : NetworkSnapshot() } }
        )
      }
    }
  }
#endif
