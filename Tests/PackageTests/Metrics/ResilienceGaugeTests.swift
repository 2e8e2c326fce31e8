#if SwiftOperationMetrics
  import MetricsTestKit
  import OperationCore
  import OperationMetrics
  import OperationTesting
  import TestFixtures
  import Testing

  private struct PoolSnapshot: OperationResilienceSnapshot {
    var name = "posts"
    var connections = 1

    var gauges: [String: Double] { ["pool.connections": Double(self.connections)] }
    var description: String { self.name }
  }

  @Suite(.bounded, .warningsAreIssues) struct ResilienceGaugeTests {
    private let bench = Bench()

    private func value(_ gauge: String, of name: String) -> Double? {
      self.bench.backend.meters(label: "operation.\(gauge)", dimensions: [("name", name)]).last?.lastValue
    }

    @Test func `The numbers of a snapshot are meters with its name`() {
      self.bench.meters.show([PoolSnapshot(connections: 3), PoolSnapshot(name: "users", connections: 4)])
      self.bench.meters.show([PoolSnapshot(connections: 5)])
      expect(self.value("pool.connections", of: "posts"), equals: 5)
      expect(self.value("pool.connections", of: "users"), equals: 4)
    }

    @Test func `Beyond a hundred names further ones are shown together`() {
      for number in 0..<200 { self.bench.meters.show([PoolSnapshot(name: "\(number)", connections: number)]) }
      expect(self.value("pool.connections", of: "99"), equals: 99)
      expect(self.value("pool.connections", of: "100"), equals: nil)
      expect(self.value("pool.connections", of: "other"), equals: 199)
      self.bench.meters.show([PoolSnapshot(name: "7", connections: 8)])
      expect(self.value("pool.connections", of: "7"), equals: 8)
    }

    @Test func `Numbers are shown again and again until the task is cancelled`() async throws {
      let number = Box(1)
      let (meters, context) = (self.bench.meters, self.bench.context)
      let task = Task {
        await meters.show(every: .seconds(10), in: context) { [PoolSnapshot(connections: number.value)] }
      }
      try await self.bench.clock.sleepers(count: 1)
      expect(self.value("pool.connections", of: "posts"), equals: 1)
      number.value = 2
      self.bench.clock.advance(by: .seconds(10))
      try await self.bench.clock.sleepers(count: 1)
      expect(self.value("pool.connections", of: "posts"), equals: 2)
      task.cancel()
      await task.value
      expect(self.bench.clock.sleeperCount(), equals: 0)
    }

    @Test func `An interval that is too short is reported`() async throws {
      for interval in [Duration.zero, .seconds(-1), .nanoseconds(1)] {
        try await expectWarning(.invalidArgument) {
          let task = Task { [meters = self.bench.meters, context = self.bench.context] in
            await meters.show(every: interval, in: context) { [] }
          }
          try await self.bench.clock.sleepers(count: 1)
          expect(self.bench.clock.remainingTimes(), equals: [.seconds(10)])
          task.cancel()
          await task.value
        }
      }
    }
  }
#endif
