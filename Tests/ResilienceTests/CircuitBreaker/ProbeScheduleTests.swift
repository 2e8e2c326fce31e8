import OperationBackoff
import OperationCircuitBreaker
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Random schedules of runs, cancellations, changes of the settings and of the state, on manual time.
@Suite(.bounded, .warningsAreIssues) struct ProbeScheduleTests {
  /// Runs that take some seconds and then succeed or fail, and the breaker around them.
  private struct Schedule {
    let clock = ManualClock()
    let breaker: CircuitBreaker
    var mostProbes: Int
    var tasks: [Task<Int, any Error>] = []

    init(using generator: inout SeededGenerator) {
      self.mostProbes = Int.random(in: 1...3, using: &generator)
      self.breaker = CircuitBreaker(
        minimumRuns: Int.random(in: 1...3, using: &generator),
        lastRuns: Bool.random(using: &generator) ? 4 : nil,
        slowAfter: Bool.random(using: &generator) ? .seconds(2) : nil,
        openFor: .constant(.seconds(Int.random(in: 0...3, using: &generator))),
        probes: self.mostProbes,
        probeWait: .seconds(Int.random(in: 0...5, using: &generator)),
        halfOpenFor: Bool.random(using: &generator) ? .seconds(4) : nil
      )
    }

    mutating func step(using generator: inout SeededGenerator) {
      switch Int.random(in: 0..<16, using: &generator) {
      case 0..<7:
        let (seconds, fails) = (Int.random(in: 0...3, using: &generator), Bool.random(using: &generator))
        let operation = Work<Int, any Error> { context, _ in
          if seconds > 0 { try await context.operationDeadlines.sleep(for: .seconds(seconds)) }
          if fails { throw Refused() }
          return 1
        }
        var context = OperationContext()
        context.use(self.clock)
        self.tasks.append(
          Task.immediate { [context, breaker] in
            try await operation.circuitBreaker(breaker).runWithoutSetup(in: context)
          }
        )
      case 7..<9: self.tasks.randomElement(using: &generator)?.cancel()
      case 9..<13: self.clock.advance(by: .seconds(Int.random(in: 0...3, using: &generator)))
      case 13:
        let probes = Int.random(in: 1...3, using: &generator)
        self.mostProbes = max(self.mostProbes, probes)
        self.breaker.update(
          probes: probes,
          probeWait: .seconds(Int.random(in: 0...5, using: &generator)),
          halfOpenFor: .seconds(Int.random(in: 0...4, using: &generator))
        )
      case 14: self.breaker.reset()
      default: if Int.random(in: 0..<4, using: &generator) == 0 { self.breaker.isolate() }
      }
    }

    /// What is wrong with the numbers of the breaker; nil if nothing is.
    var problem: String? {
      let snapshot = self.breaker.snapshot()
      switch snapshot.state {
      case .halfOpen:
        if snapshot.probes > self.mostProbes { return "\(snapshot.probes) probes" }
        if snapshot.probes < 0 { return "a place was lost" }
        return nil
      case .closed:
        // Runs that waited for the probes may wait for their turn.
        return snapshot.probes == 0 ? nil : "\(snapshot.probes) probes: closed"
      case .open, .isolated:
        return snapshot.probes == 0 && snapshot.waiting == 0 ? nil : "\(snapshot.waiting) wait: \(snapshot.state)"
      }
    }

    func end() async -> String? {
      for task in self.tasks { task.cancel() }
      for task in self.tasks { _ = await task.result }
      let snapshot = self.breaker.snapshot()
      if snapshot.waiting > 0 { return "\(snapshot.waiting) wait" }
      if snapshot.probes > 0 { return "\(snapshot.probes) probes are left" }
      return self.clock.sleeperCount() == 0 ? nil : "\(self.clock.sleeperCount()) timers are left"
    }
  }

  @Test(arguments: ModelRuns.seeds)
  func `No place of a probe is lost or made, and nothing is left`(seed: UInt64) async {
    await ModelRuns.check(200, seed: seed) { await Self.failure(of: &$0) }
  }

  private static func failure(of generator: inout SeededGenerator) async -> String? {
    var schedule = Schedule(using: &generator)
    for _ in 0..<Int.random(in: 1...40, using: &generator) {
      schedule.step(using: &generator)
      if let problem = schedule.problem { return problem }
    }
    return await schedule.end().map { "at the end, \($0)" }
  }
}
