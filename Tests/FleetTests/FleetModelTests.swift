import OperationCore
import OperationFleet
import OperationTesting
import TestFixtures
import Testing

/// Random schedules of nodes and faults, by seed.
@Suite(.bounded, .warningsAreIssues) struct FleetModelTests {
  @Test(arguments: 0..<4)
  func `Whatever happens, no node shows what was invalidated, and one node runs`(part: UInt64) {
    for number in 0..<ModelRuns.count(15, parts: 4, weight: 8) {
      let seed = UInt64(number) * 4 + part
      var schedule = FleetSchedule(seed: seed)
      guard let failure = schedule.failure() else { continue }
      Issue.record("seed \(seed): \(failure)")
      return
    }
  }
}

/// The time that the backend takes from calls, whatever it does.
@Suite(.bounded, .warningsAreIssues) struct FleetDelayTests {
  @Test(arguments: 0..<2)
  func `The backend delays a call for no longer than the lookup timeout`(part: UInt64) {
    for number in 0..<ModelRuns.count(10, parts: 2, weight: 2) {
      let seed = UInt64(number) * 2 + part
      guard let failure = Self.failure(seed: seed) else { continue }
      Issue.record("seed \(seed): \(failure)")
      return
    }
  }

  /// Calls of one node to operations that no other node runs, with a backend that is slow, lossy, cut off or stopped.
  private static func failure(seed: UInt64) -> String? {
    var generator = SeededGenerator(seed: seed)
    let latency = Duration.milliseconds([0, 10, 100, 400][Int(generator.next() % 4)])
    let network = InMemoryFleet.Network(latency: .zero...latency, loss: generator.next() % 2 == 0 ? 0 : 0.1)
    let settings = FleetSettings(nodeName: "node", leaseDuration: .seconds(1), heartbeat: .seconds(1))
    let run = Duration.milliseconds(Int64(generator.next() % 20) * 100)
    let fleet = Fleet(network: network, seed: seed, settings: settings, runDuration: run)
    let node = fleet.addNode("a")
    var failures: [Box<String?>] = []
    for item in 0..<30 {
      fleet.advance(by: .milliseconds(Int64(generator.next() % 1_000)))
      switch generator.next() % 8 {
      case 0: fleet.backend.isRunning.toggle()
      case 1: node.connection.isCut.toggle()
      case 2: node.client.invalidate(matching: ["items", Int(generator.next() % 30)])
      default: break
      }
      let failure = Box<String?>("call \(item) has not ended")
      let (query, start) = (fleet.query(item, on: "a"), fleet.clock.elapsed)
      _ = fleet.perform {
        _ = try? await node.client.store(for: query).fetch()
        let delay = fleet.clock.elapsed - start - run
        failure.value = delay > settings.lookupTimeout ? "call \(item) was delayed for \(delay)" : nil
      }
      failures.append(failure)
    }
    fleet.advance(by: .seconds(10))
    node.fleetNode.leave()
    return failures.lazy.compactMap(\.value).first
  }
}
