#if os(Linux)
  import TestFixtures
  import Testing

  @testable import OperationMemoryPressure

  @Suite(.bounded) struct IntervalTests {
    @Test func `While memory is not short, no timer is faster than five seconds`() {
      let intervals = PressureMonitor.Configuration(paths: LinuxMemoryPaths(environment: [:])).intervals
      expect(intervals.calm, equals: .seconds(10))
      expect(intervals.raised, equals: .seconds(2))
      expect(intervals.reopening, equals: .seconds(10))
    }
  }
#endif
