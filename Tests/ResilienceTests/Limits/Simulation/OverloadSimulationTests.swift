import OperationCore
import OperationLimits
import OperationTesting
import TestFixtures
import Testing

/// Queues that stand, in virtual time: the tables of the article.
///
/// A service with ten slots and runs of 0.1 s serves 100 a second. Runs come at random for a minute, of which the second
/// half is measured, or the first ten seconds.
@Suite(.bounded, .warningsAreIssues) struct OverloadSimulationTests {
  private struct Outcome: CustomStringConvertible {
    /// The waits of the runs that have begun, in milliseconds.
    var waits: [Int] = []
    var rejected = 0
    /// How long it was measured.
    var seconds = 30

    /// The runs in a second that have begun within a second: their callers are still there.
    var useful: Int { self.waits.count { $0 <= 1000 } / self.seconds }
    var median: Int { self.wait(0.5) }
    var late: Int { self.wait(0.99) }

    private func wait(_ part: Double) -> Int {
      let sorted = self.waits.sorted()
      return sorted.isEmpty ? 0 : sorted[min(Int(Double(sorted.count) * part), sorted.count - 1)]
    }

    var description: String {
      "\(self.useful) useful a second, median \(self.median) ms, p99 \(self.late) ms, \(self.rejected / self.seconds) rejected"
    }
  }

  private static let length = 60.0

  /// Runs that come at `rate` a second, and wait in `order` for `patience`.
  private static func simulate(
    _ order: LimitOrder,
    rate: Double,
    patience: Duration? = nil,
    measuring measured: Range<Int> = 30..<60
  ) -> Outcome {
    var generator = SeededGenerator(seed: 7)
    var machine = PermitMachine(limit: 10, maximumWaiting: 10_000, order: order)
    let deadlines = SystemDeadlineSource()
    var outcome = Outcome(seconds: measured.count)
    let (start, end) = (Double(measured.lowerBound), Double(measured.upperBound))
    var starts: [ObjectIdentifier: Double] = [:]
    var waiters: [LimitWaiter] = []
    // All runs take as long, so they end in the order in which they begin.
    var (ends, ended) = ([Double](), 0)
    func begin(_ arrival: Double, at time: Double) {
      ends.append(time + 0.1)
      if time >= start { outcome.waits.append(Int((time - arrival) * 1000)) }
    }
    func settle(at time: Double) {
      for waiter in machine.decided {
        if waiter.decision == .admitted {
          begin(starts[ObjectIdentifier(waiter)] ?? time, at: time)
        } else if time >= start {
          outcome.rejected += 1
        }
      }
      machine.decided = []
    }
    var time = 0.0
    while time < end {
      while ended < ends.count, ends[ended] <= time {
        machine.wake(at: .seconds(ends[ended]))
        machine.giveBack(at: .seconds(ends[ended]))
        settle(at: ends[ended])
        ended += 1
      }
      let waiter = LimitWaiter(deadlines: deadlines, due: patience.map { .seconds(time) + $0 })
      waiters.append(waiter)
      starts[ObjectIdentifier(waiter)] = time
      if machine.join(waiter, at: .seconds(time)) == .admitted { begin(time, at: time) }
      settle(at: time)
      time += generator.interval(rate: rate)
    }
    return outcome
  }

  @Test func `First come, first served serves nobody in time when the queue stands`() {
    let outcome = Self.simulate(.firstComeFirstServed, rate: 150)
    #expect(outcome.useful == 0 && outcome.median > 10_000, "\(outcome)")
  }

  @Test func `Controlled delay keeps waits short at the full throughput, and rejects nothing without need`() {
    let outcome = Self.simulate(.controlledDelay(), rate: 150)
    #expect(outcome.useful >= 95 && outcome.median < 250 && outcome.late < 600, "\(outcome)")
    let twice = Self.simulate(.controlledDelay(), rate: 200)
    #expect(twice.useful >= 95 && twice.late < 1000, "\(twice)")
    let quiet = Self.simulate(.controlledDelay(), rate: 80)
    #expect(quiet.useful >= 77 && quiet.rejected <= 30, "\(quiet)")
  }

  @Test func `Adaptive LIFO serves most runs at once`() {
    let newest = Self.simulate(.adaptiveLIFO(), rate: 150, patience: .seconds(1))
    #expect(newest.useful >= 97 && newest.median < 60, "\(newest)")
    let oldest = Self.simulate(.firstComeFirstServed, rate: 150, patience: .seconds(1))
    #expect(oldest.useful >= 97 && oldest.median > 900, "\(oldest)")
  }

  @Test func `Bounded delay lets no run wait for long, and costs little throughput`() {
    for (rate, useful, rejected) in [(80.0, 75, 5), (150, 93, 57), (200, 95, 105)] {
      let outcome = Self.simulate(.boundedDelay(), rate: rate)
      let isRare = outcome.rejected / 30 <= rejected
      #expect(outcome.useful >= useful && outcome.late <= 100 && isRare, "\(rate): \(outcome)")
    }
  }

  @Test func `In the first seconds of an overload, bounded delay and adaptive LIFO keep waits short`() {
    for (rate, controlledMedian) in [(150.0, 75), (200, 130), (300, 850)] {
      let bounded = Self.simulate(.boundedDelay(), rate: rate, measuring: 0..<10)
      #expect(bounded.median <= 100 && bounded.late <= 100 && bounded.useful >= 90, "\(rate): \(bounded)")
      let newest = Self.simulate(.adaptiveLIFO(), rate: rate, patience: .seconds(1), measuring: 0..<10)
      #expect(newest.median <= 60 && newest.useful >= 95, "\(rate): \(newest)")
      // Its control law needs seconds until it rejects enough.
      let controlled = Self.simulate(.controlledDelay(), rate: rate, measuring: 0..<10)
      #expect(controlled.median >= controlledMedian, "\(rate): \(controlled)")
    }
  }

  // MARK: - Tenants

  /// Seven tenants that want 8 runs a second, and one that wants `greed`. The waits are those of the seven.
  private static func simulateTenants(greed: Double, isPartitioned: Bool) -> Outcome {
    var generator = SeededGenerator(seed: 9)
    var machine = PartitionMachine(
      limit: 10,
      shares: [:],
      others: PartitionShare(guaranteed: 0),
      maximumWaiting: 200
    )
    let deadlines = SystemDeadlineSource()
    var outcome = Outcome()
    var (ends, ended): ([(time: Double, slot: Int)], Int) = ([], 0)
    var runs: [ObjectIdentifier: (start: Double, isGreedy: Bool)] = [:]
    var waiters: [LimitWaiter] = []
    func begin(_ waiter: LimitWaiter, at time: Double) {
      ends.append((time + 0.1, machine.slot(of: waiter)))
      guard let run = runs[ObjectIdentifier(waiter)], !run.isGreedy, time >= Self.length / 2 else { return }
      outcome.waits.append(Int((time - run.start) * 1000))
    }
    var time = 0.0
    while time < Self.length {
      while ended < ends.count, ends[ended].time <= time {
        let end = ends[ended]
        ended += 1
        machine.giveBack(end.slot, at: .seconds(end.time))
        for waiter in machine.decided where waiter.decision == .admitted { begin(waiter, at: end.time) }
        machine.decided = []
      }
      let isGreedy = generator.unit() < greed / (greed + 56)
      let tenant = isGreedy ? "greedy" : "\(Int.random(in: 0..<7, using: &generator))"
      let waiter = LimitWaiter(deadlines: deadlines, due: nil)
      waiters.append(waiter)
      runs[ObjectIdentifier(waiter)] = (time, isGreedy)
      switch machine.join(waiter, to: isPartitioned ? tenant : "all", at: .seconds(time)) {
      case .admitted: begin(waiter, at: time)
      case nil: break
      default: if !isGreedy, time >= Self.length / 2 { outcome.rejected += 1 }
      }
      for waiter in machine.decided where waiter.decision != .admitted {
        if runs[ObjectIdentifier(waiter)]?.isGreedy == false, time >= Self.length / 2 { outcome.rejected += 1 }
      }
      machine.decided = []
      time += generator.interval(rate: greed + 56)
    }
    return outcome
  }

  @Test func `A greedy tenant slows only its own runs`() {
    let quiet = Self.simulateTenants(greed: 8, isPartitioned: true)
    let fair = Self.simulateTenants(greed: 200, isPartitioned: true)
    let together = Self.simulateTenants(greed: 200, isPartitioned: false)
    #expect(quiet.rejected == 0 && quiet.late <= 60, "\(quiet)")
    #expect(fair.useful >= 54 && fair.rejected == 0 && fair.late <= 200, "\(fair)")
    #expect(together.useful < 54 && together.rejected > 500, "\(together)")
  }
}
