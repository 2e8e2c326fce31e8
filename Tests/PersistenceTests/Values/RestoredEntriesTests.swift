import TestFixtures
import Testing

@testable import OperationPersistence

/// What was read ahead, and what has become of it.
@Suite(.bounded) struct RestoredEntriesTests {
  private func entry(_ number: Int) -> StorageEntry { StorageEntry(key: "value/\(number)", value: [1]) }

  private func isMissing(_ lookup: RestoredEntries.Lookup) -> Bool {
    if case .missing = lookup { true } else { false }
  }

  private func isUnknown(_ lookup: RestoredEntries.Lookup) -> Bool {
    if case .unknown = lookup { true } else { false }
  }

  @Test func `A process that writes ever new keys keeps a bounded number of them, and reads what it has forgotten`() {
    var entries = RestoredEntries()
    entries.insert([self.entry(-1), self.entry(-2)], prefix: "value/")
    #expect(self.isMissing(entries.take("value/0")))
    for number in 0..<100_000 {
      entries.touch("value/\(number)")
      #expect(entries.count <= RestoredEntries.maximumEmptyCount + 3)
      #expect(self.isUnknown(entries.take("value/\(number)")))
    }
    #expect(self.isUnknown(entries.take("value/new")))
    guard case .entry = entries.take("value/-1") else { return #expect(Bool(false), "what was read is there") }
    entries.touch("value/-2")
    #expect(self.isUnknown(entries.take("value/-2")))
  }

  @Test func `A process that reads the same entries again and again keeps no more keys for that`() {
    var entries = RestoredEntries()
    for round in 0..<100 {
      entries.insert((0..<1_000).map(self.entry), prefix: "value/")
      for number in 0..<100 { entries.touch("value/\(round)/\(number)") }
    }
    #expect(entries.count <= RestoredEntries.maximumEmptyCount + 1_001)
  }

  @Test func `Entries that were all taken are known to be no others`() {
    var entries = RestoredEntries()
    let count = 2 * RestoredEntries.maximumEmptyCount
    entries.insert((0..<count).map(self.entry), prefix: "value/")
    for number in 0..<count { _ = entries.take("value/\(number)") }
    #expect(self.isMissing(entries.take("value/new")))
    #expect(self.isUnknown(entries.take("value/0")))
  }
}
