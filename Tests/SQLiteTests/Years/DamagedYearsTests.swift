#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import OperationTesting
  import TestFixtures
  import Testing

  /// Damaged files of programs whose calls are merged, replaced, in conflict, expire and are of two versions, with a journal
  /// that resumes by itself.
  ///
  /// However the files are damaged, a later version of the program starts, sends what can be read in order, sends
  /// nothing twice, and reports and keeps what it cannot send.
  @Suite(.bounded) struct DamagedYearsTests {
    @Test func `After any damage each call is sent, in front of the user, or reported`() async throws {
      var seen: Set<String> = []
      try await withThrowingTaskGroup(of: (seed: Int, run: YearsRun).self) { group in
        let count = ModelRuns.count(20, parts: 10)
        // Two at a time, which leave the threads that other tests need.
        for seed in 0..<count + 2 {
          if seed < count { group.addTask { (seed, try await self.run(seed)) } }
          guard seed >= 2, let ended = try await group.next() else { continue }
          expect(ended.run.problems, equals: [], "seed \(ended.seed): \(ended.run.summary)")
          seen.formUnion(ended.run.seen)
        }
      }
      let expected: Set = ["killed", "ended", "downgraded", "damaged", "unreadable", "conflict", "expired"]
      #expect(seen.isSuperset(of: expected), "\(seen.sorted())")
    }

    private func run(_ seed: Int) async throws -> YearsRun {
      try await withTimeLimit("the end of seed \(seed)", .seconds(180)) { try await YearsRun.run(seed: UInt64(seed)) }
    }

    @Test func `There are damages of all kinds`() {
      let files = ["state.sqlite", "state.sqlite-wal", "state.sqlite-shm"].map { ($0, Data(count: 40_960)) }
      var random = SeededGenerator(seed: 1)
      let names = (0..<1_000).map { _ in
        YearsDamage(of: Dictionary(uniqueKeysWithValues: files), isSealed: false, using: &random).name
      }
      let rows = YearsDamage.Row.allCases.map { "row \($0)" }
      let entries = YearsDamage.Entry.allCases.map { "entry \($0)" }
      expect(Set(names), equals: Set(rows + entries + ["bytes", "cutLog", "missing 1", "missing 2"]))
    }
  }
#endif
