#if os(Linux)
  import OperationEventLoop
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationActivityObserving

  @Suite(.bounded, .warningsAreIssues) struct ActivityObserverRulesTests {
    @Test func `The observer of the process follows the rules of observers`() async throws {
      try await checkObserver(sending: [false, true]) {
        let (system, loop) = (FakeSystem(), EventLoop())
        var configuration = ActivityMonitor.Configuration(options: .countsBackgroundAsActive)
        configuration.procRoot = system.folder
        configuration.loop = loop
        configuration.files = FileWatcher(loop: loop)
        configuration.relay = { system.subscribe(to: $0, $1) }
        let observer = SignalActivityObserver(configuration)
        return CheckedObserver(
          subscribe: { observer.subscribe($0) },
          current: { observer.isActive },
          send: { if $0 { observer.markActive() } else { observer.markInactive() } }
        )
      }
    }
  }
#endif
