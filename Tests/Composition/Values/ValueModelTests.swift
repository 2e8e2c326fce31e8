import Operation
import OperationDerivation
import OperationFleet
import OperationPersistence
import OperationTesting
import TestFixtures
import Testing

/// Random schedules of three nodes with everything switched on: storages, of which two processes share one, a fleet, derived and
/// tagged queries, optimistic updates, fallbacks, first values, values that are handed over, restarts, kills and signing out.
///
/// The rules know when the service was read, and the real order of everything. They know no epochs.
///
/// `swift test` runs the first 64 schedules, and `Scripts/check-schedules --short` a thousand where the code has changed.
@Suite(.bounded, .warningsAreIssues) struct ValueModelTests {
  @Test(arguments: 0..<8)
  func `Whichever way a value came, it is used as what it is`(part: UInt64) async {
    var failures = 0
    for number in 0..<ModelRuns.count(8, parts: 8) where failures < 3 {
      if await !self.check(UInt64(number) * 8 + part) { failures += 1 }
    }
  }

  /// - A value that is handed over during a run and has missed an invalidation (2083), and what a process has invalidated that
  ///   has not heard of a removal yet (5316).
  /// - A list that a call for its next page, or for a page of it, was taken to refresh (12084, 29190).
  /// - A store is removed while a reader of its derived value waits for the storage (30608), or a caller for its run (64365).
  /// - A first value that is handed back to the store that shows it (71172).
  /// - Pages that are handed over during the run of a caller, and are from before an invalidation (16932, 59576, 73026).
  /// - The run of a source is cancelled with one of the two runs that read it (88337).
  /// - What is set before a process reads its storage (34397), and what it fetches while its own removal waits (37234).
  @Test(
    arguments: [
      2_083, 5_316, 12_084, 16_932, 29_190, 30_608, 34_397, 37_234, 59_576, 64_365, 71_172, 73_026, 88_337,
    ] as [UInt64]
  )
  func `What schedules have shown stays mended`(seed: UInt64) async {
    _ = await self.check(seed)
  }

  /// Performs the schedule of a seed. Returns whether it has kept the rules.
  private func check(_ seed: UInt64) async -> Bool {
    let failure = await OperationWarning.withReporter { warning in
      // The fleet does not share derived values, and says so.
      if warning.severity == .hint || warning.message.contains("made of those of other") { return }
      Issue.record("\(warning)")
    } operation: {
      await ValueSchedule(seed: seed).failure()
    }
    if let failure { Issue.record("seed \(seed): \(failure)") }
    return failure == nil
  }
}
