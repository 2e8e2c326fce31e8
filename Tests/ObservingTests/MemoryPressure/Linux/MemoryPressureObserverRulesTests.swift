#if os(Linux)
  import OperationEventLoop
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationMemoryPressure

  @Suite(.bounded, .warningsAreIssues) struct MemoryPressureObserverRulesTests {
    @Test func `The source of a control group follows the rules of observers`() async throws {
      try await checkObserver(sending: [MemoryPressure.critical, .normal]) {
        let (tree, loop, clock) = (try FakeTree(), EventLoop(), ManualClock())
        try tree.writeMachine()
        try tree.writeUnified(group: "/own")
        try tree.writeGroup("/own", current: 10, max: 100)
        try tree.writeEvents("/own")
        var configuration = PressureMonitor.Configuration(paths: tree.paths)
        configuration.loop = loop
        configuration.files = FileWatcher(loop: loop)
        // A level falls after ten seconds without an event, which are a few checks.
        configuration.elapsed = {
          clock.advance(by: .seconds(3))
          return clock.elapsed
        }
        configuration.intervals = PressureMonitor.Intervals(calm: .milliseconds(2), raised: .milliseconds(2))
        let source = CgroupMemoryPressureSource(configuration)
        return CheckedObserver(
          subscribe: { source.subscribe(with: $0) },
          send: { pressure in
            let megabytes = pressure == .critical ? 99 : 10
            do {
              try tree.write("\(megabytes << 20)\n", to: "unified/own/memory.current")
            } catch {
              Issue.record(error)
            }
          }
        )
      }
    }
  }
#endif
