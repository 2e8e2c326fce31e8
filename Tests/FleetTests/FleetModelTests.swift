import OperationCore
import OperationFleet
import OperationTesting
import TestFixtures
import Testing

/// Random schedules of nodes and faults, by seed.
@Suite(.warningsAreIssues) struct FleetModelTests {
  @Test(arguments: 0..<4)
  func `Whatever happens, no node shows what was invalidated, and one node runs`(part: UInt64) {
    for number in 0..<ModelRuns.count(100) {
      let seed = UInt64(number) * 4 + part
      var schedule = FleetSchedule(seed: seed)
      guard let failure = schedule.failure() else { continue }
      Issue.record("seed \(seed): \(failure)")
      return
    }
  }
}
