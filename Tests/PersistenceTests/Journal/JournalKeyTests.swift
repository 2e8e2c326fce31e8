import TestFixtures
import Testing

@testable import OperationPersistence

@Suite(.bounded) struct JournalKeyTests {
  @Test func `Keys are random identifiers of version 4, and differ`() {
    let keys = (0..<1_000).map { _ in JournalKey.random() }
    let format = /[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/
    #expect(keys.allSatisfy { $0.wholeMatch(of: format) != nil })
    expect(Set(keys).count, equals: keys.count)
    // Each of the other characters takes all values.
    for index in 0..<36 where ![8, 13, 14, 18, 19, 23].contains(index) {
      expect(Set(keys.map { Array($0)[index] }).count, equals: 16, "\(index)")
    }
  }
}
