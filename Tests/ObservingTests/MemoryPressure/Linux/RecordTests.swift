#if os(Linux)
  import OperationControlGroups
  import TestFixtures
  import Testing

  @testable import OperationMemoryPressure

  /// Counters and totals, compared with their earlier values.
  @Suite(.bounded) struct RecordTests {
    private final class Stalls {
      private var record: StallRecord

      init(_ threshold: StallThreshold, total: UInt64) {
        self.record = StallRecord(threshold: threshold, total: total, at: .zero)
      }

      func note(total: UInt64, at time: Duration) -> Bool { self.record.note(total: total, at: time) }
    }

    private final class Limits {
      private var record: LimitRecord

      init(_ counts: KeyedNumbers) {
        self.record = LimitRecord(counts: counts)
      }

      func note(_ counts: KeyedNumbers, at time: Duration) -> MemoryPressure? { self.record.note(counts, at: time) }
    }

    @Test func `A trigger that fires before its threshold is met is ignored`() {
      let record = Stalls(.warning, total: 1_000_000)
      #expect(!record.note(total: 1_035_600, at: .milliseconds(30)))
      #expect(!record.note(total: 1_041_000, at: .seconds(2)))
      #expect(record.note(total: 1_191_000, at: .seconds(4)))
    }

    @Test func `A reading shortly before a trigger fires does not hide the stall`() {
      let record = Stalls(.warning, total: 0)
      #expect(!record.note(total: 0, at: .seconds(10)))
      #expect(!record.note(total: 100_000, at: .seconds(20)))
      #expect(record.note(total: 160_000, at: .milliseconds(20_060)))
    }

    @Test func `A total that has added up over a long time is not one stall`() {
      let record = Stalls(.warning, total: 0)
      for count in 1...100 { _ = record.note(total: UInt64(count * 10_000), at: .seconds(count * 10)) }
      #expect(!record.note(total: 1_030_000, at: .seconds(1_009)))
    }

    @Test func `A total that falls, because the group is another one, is not a stall`() {
      let record = Stalls(.critical, total: 5_000_000)
      #expect(!record.note(total: 10, at: .seconds(2)))
      #expect(record.note(total: 100_010, at: .seconds(4)))
    }

    private func counts(high: Int = 0, max: Int = 0, oom: Int = 0, kill: Int = 0) -> KeyedNumbers {
      KeyedNumbers(parsing: "low 0\nhigh \(high)\nmax \(max)\noom \(oom)\noom_kill \(kill)\noom_group_kill 0\n")
    }

    @Test func `Reaching a limit is a warning, and killing a process is critical`() {
      let record = Limits(self.counts(high: 3))
      expect(record.note(self.counts(high: 3), at: .seconds(1)), equals: nil)
      expect(record.note(self.counts(high: 4), at: .seconds(2)), equals: .warning)
      expect(record.note(self.counts(high: 4, max: 1), at: .seconds(9)), equals: .warning)
      expect(record.note(self.counts(high: 4, max: 1, oom: 1), at: .seconds(20)), equals: .critical)
      expect(record.note(self.counts(high: 4, max: 1, oom: 1, kill: 1), at: .seconds(30)), equals: .critical)
      expect(record.note(self.counts(high: 4, max: 1, oom: 1, kill: 1), at: .seconds(31)), equals: nil)
    }

    @Test func `The hard limit in two consecutive windows is critical`() {
      let record = Limits(self.counts())
      expect(record.note(self.counts(max: 1), at: .milliseconds(3_900)), equals: .warning)
      expect(record.note(self.counts(max: 2), at: .milliseconds(3_950)), equals: .warning)
      expect(record.note(self.counts(max: 3), at: .milliseconds(4_100)), equals: .critical)
      expect(record.note(self.counts(max: 4), at: .milliseconds(8_100)), equals: .warning)
    }

    @Test func `The counter of protected memory, and counters that start again, are not reported`() {
      let record = Limits(self.counts(high: 9, max: 9, kill: 9))
      expect(record.note(KeyedNumbers(parsing: "low 5\nhigh 9\nmax 9\noom_kill 9"), at: .seconds(1)), equals: nil)
      expect(record.note(self.counts(), at: .seconds(2)), equals: nil)
      expect(record.note(self.counts(high: 1), at: .seconds(3)), equals: .warning)
    }

    @Test func `A file that is read while it is written is not reported`() {
      let record = Limits(self.counts(high: 9, max: 9))
      expect(record.note(KeyedNumbers(parsing: ""), at: .seconds(1)), equals: nil)
      expect(record.note(self.counts(high: 9, max: 9), at: .seconds(2)), equals: nil)
      expect(record.note(self.counts(high: 10, max: 9), at: .seconds(3)), equals: .warning)
    }
  }
#endif
