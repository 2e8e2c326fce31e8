import OperationTesting
import TestFixtures
import Testing

/// Random schedules of stores with random modifiers on manual time: each sentence of an explanation is compared with what
/// happens next.
///
/// A poll, an attempt, the end of a time limit, an eviction and the end of freshness come at the time that was announced, and
/// nothing of that comes unannounced. A subscriber and an `ensureValue` get a run where the value is stale, and none where it is
/// fresh or the store says why it does not run.
@Suite(.bounded, .warningsAreIssues) struct ExplanationModelTests {
  @Test(arguments: 0..<8)
  func `What an explanation says is what happens`(part: UInt64) {
    for number in 0..<ModelRuns.count(8, parts: 8) {
      let seed = UInt64(number) * 8 + part
      guard let failure = ExplanationSchedule(seed: seed).failure() else { continue }
      Issue.record("seed \(seed): \(failure)")
      return
    }
  }
}
