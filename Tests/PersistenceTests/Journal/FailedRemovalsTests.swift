import TestFixtures
import Testing

@testable import OperationPersistence

@Suite(.bounded) struct FailedRemovalsTests {
  @Test func `Removals are taken in turn, each once, and one that has failed by itself comes last`() {
    let removal = EntryRemoval(seen: nil, revision: nil)
    var removals = FailedRemovals()
    for key in ["a", "b", "c", "d", "b"] { removals.add(key, removal) }
    let first = removals.take(2)
    expect(first.map(\.key), equals: ["a", "b"])
    #expect(!removals.contains("a") && removals.contains("c"))
    removals.putBack(first)
    expect(removals.count, equals: 4)
    expect(removals.take(.max).map(\.key), equals: ["c", "d", "b", "a"])
    #expect(removals.isEmpty)
  }
}
