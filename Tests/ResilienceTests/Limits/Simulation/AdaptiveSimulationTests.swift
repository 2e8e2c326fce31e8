import Foundation
import OperationCore
import OperationLimits
import OperationTesting
import TestFixtures
import Testing

/// One row of the table in the article: a server, its load, and the number of concurrent runs that is best for it.
struct SimulatedRow: Sendable, CustomTestStringConvertible {
  let name: String
  let server: SimulatedServer
  var load = SimulatedLoad.closed { _ in 300 }
  /// The number of concurrent runs with which the server has its best throughput at less than twice its latency.
  let best: Int
  var maximum = 1000
  var length = 10.0

  var testDescription: String { self.name }

  private static func slots(_ count: Int, _ variation: SimulatedServer.Variation) -> SimulatedServer {
    SimulatedServer(slots: count, variation: variation)
  }

  private static let onAndOff = SimulatedLoad.closed { Int($0 / 2).isMultiple(of: 2) ? 300 : 3 }
  private static let bursts = SimulatedLoad.open { Int($0 / 2).isMultiple(of: 2) ? 1500 : 100 }

  static let table: [SimulatedRow] = [
    SimulatedRow(
      name: "any number at once, log-normal, sigma 0.1",
      server: wide(.logNormal(0.1)),
      best: 100,
      maximum: 100
    ),
    SimulatedRow(
      name: "any number at once, log-normal, sigma 0.2",
      server: wide(.logNormal(0.2)),
      best: 100,
      maximum: 100
    ),
    SimulatedRow(
      name: "any number at once, log-normal, sigma 0.5",
      server: wide(.logNormal(0.5)),
      best: 100,
      maximum: 100
    ),
    SimulatedRow(
      name: "any number at once, log-normal, sigma 1.0",
      server: wide(.logNormal(1)),
      best: 100,
      maximum: 100,
      length: 30
    ),
    SimulatedRow(
      name: "any number at once, log-normal, sigma 1.2",
      server: wide(.logNormal(1.2)),
      best: 100,
      maximum: 100,
      length: 30
    ),
    SimulatedRow(name: "any number at once, uniform", server: wide(.uniform), best: 100, maximum: 100),
    SimulatedRow(name: "any number at once, heavy tail", server: wide(.tail), best: 100, maximum: 100),
    SimulatedRow(name: "10 slots of 20 ms", server: slots(10, .none), best: 10),
    SimulatedRow(name: "10 slots, log-normal, sigma 0.1", server: slots(10, .logNormal(0.1)), best: 10),
    SimulatedRow(name: "10 slots, log-normal, sigma 0.2", server: slots(10, .logNormal(0.2)), best: 10),
    SimulatedRow(name: "10 slots, log-normal, sigma 0.5", server: slots(10, .logNormal(0.5)), best: 10, length: 20),
    SimulatedRow(name: "10 slots, log-normal, sigma 1.0", server: slots(10, .logNormal(1)), best: 10, length: 40),
    SimulatedRow(name: "10 slots, log-normal, sigma 1.2", server: slots(10, .logNormal(1.2)), best: 10, length: 40),
    SimulatedRow(name: "10 slots, uniform", server: slots(10, .uniform), best: 10),
    SimulatedRow(name: "10 slots, heavy tail", server: slots(10, .tail), best: 10, length: 20),
    SimulatedRow(name: "10 slots, hits and misses of a cache", server: slots(10, .twoKinds), best: 10, length: 20),
    SimulatedRow(name: "100 slots, log-normal, sigma 0.2", server: slots(100, .logNormal(0.2)), best: 100, length: 6),
    SimulatedRow(name: "100 slots, log-normal, sigma 1.0", server: slots(100, .logNormal(1)), best: 100, length: 20),
    SimulatedRow(name: "100 slots, log-normal, sigma 1.2", server: slots(100, .logNormal(1.2)), best: 100, length: 20),
    SimulatedRow(name: "100 slots, Pareto, shape 1.7", server: slots(100, .pareto), best: 100, length: 8),
    SimulatedRow(name: "1 slot, log-normal, sigma 0.2", server: slots(1, .logNormal(0.2)), best: 1, length: 30),
    SimulatedRow(name: "10 slots, 20 ms, then 60 ms", server: step(0.02, 0.06, slots: 10), best: 10, length: 20),
    SimulatedRow(name: "10 slots, 60 ms, then 20 ms", server: step(0.06, 0.02, slots: 10), best: 10, length: 20),
    SimulatedRow(name: "any number at once, 20 ms, then 60 ms", server: step(0.02, 0.06), best: 100, maximum: 100),
    SimulatedRow(name: "any number at once, 60 ms, then 20 ms", server: step(0.06, 0.02), best: 100, maximum: 100),
    SimulatedRow(name: "slower beyond 20, by the square", server: slowing(beyond: 20, 2), best: 20),
    SimulatedRow(name: "slower beyond 50, by the power of 1.5", server: slowing(beyond: 50, 1.5), best: 50),
    SimulatedRow(name: "20 processors, shared by all requests", server: slowing(beyond: 20, 1), best: 20),
    SimulatedRow(name: "fails what is beyond 20", server: SimulatedServer(shedsBeyond: 20), best: 20),
    SimulatedRow(
      name: "10 slots, 300 clients or 3, by turns",
      server: slots(10, .logNormal(0.2)),
      load: onAndOff,
      best: 10
    ),
    SimulatedRow(
      name: "20 slots, 1,500 requests a second or 100, by turns",
      server: slots(20, .logNormal(0.2)),
      load: bursts,
      best: 20
    ),
    SimulatedRow(
      name: "10 slots, 400 requests a second",
      server: slots(10, .logNormal(0.2)),
      load: .open { _ in 400 },
      best: 10
    ),
    SimulatedRow(
      name: "10 slots, 600 requests a second",
      server: slots(10, .logNormal(0.2)),
      load: .open { _ in 600 },
      best: 10
    ),
  ]

  private static func wide(_ variation: SimulatedServer.Variation) -> SimulatedServer {
    SimulatedServer(variation: variation)
  }

  /// Its requests change their duration after seven seconds.
  private static func step(_ first: Double, _ second: Double, slots: Int? = nil) -> SimulatedServer {
    SimulatedServer(slots: slots, variation: .logNormal(0.2), base: { $0 < 7 ? first : second })
  }

  private static func slowing(beyond count: Double, _ power: Double) -> SimulatedServer {
    SimulatedServer(variation: .logNormal(0.2), slowdown: { max(1, pow(Double($0) / count, power)) })
  }
}

@Suite(.bounded, .warningsAreIssues) struct AdaptiveSimulationTests {
  /// One, two where more schedules are asked for, or as many as `SIMULATION_SEEDS` says.
  private let seedCount =
    ProcessInfo.processInfo.environment["SIMULATION_SEEDS"].flatMap { UInt64($0) } ?? (ModelRuns.isThorough ? 2 : 1)

  /// Every ninth row, and all of them with two seeds where more schedules are asked for.
  @Test(arguments: ModelRuns.part(of: SimulatedRow.table, every: 9))
  func `The throughput is within 15 percent of the best, at less than twice the latency`(row: SimulatedRow) {
    var simulation = Simulation(server: row.server, load: row.load, length: row.length)
    let best = simulation.run(ConcurrencyLimit(row.best))
    simulation.length = 4
    let alone = simulation.run(ConcurrencyLimit(1)).latency
    // The latency without load changes in some rows.
    let base = row.server.base(0) == row.server.base(row.length) ? alone : best.latency
    simulation.length = row.length
    for seed in 1...self.seedCount {
      simulation.seed = seed
      let limit = AdaptiveLimit(minimum: 1, maximum: row.maximum)
      let result = simulation.run(limit)
      let (share, slowdown) = (result.throughput / best.throughput, result.latency / base)
      #expect(share >= 0.85, "\(row.name): \(result.throughput)/s of \(best.throughput)/s, seed \(seed)")
      #expect(slowdown < 2, "\(row.name): \(result.latency) s for \(base) s, seed \(seed)")
      if ProcessInfo.processInfo.environment["SIMULATION_TABLE"] != nil {
        let (throughput, most) = (Int(result.throughput.rounded()), Int(best.throughput.rounded()))
        print(
          "| \(row.name) | \(throughput)/s | \(Int((share * 100).rounded())) % of \(most)/s |",
          "\((slowdown * 100).rounded() / 100) | \(limit.limit) |"
        )
      }
    }
  }
}
