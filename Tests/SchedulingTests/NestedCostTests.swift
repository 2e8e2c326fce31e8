import OperationCore
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct NestedCostTests {
  /// Cubic costs, which this excludes, take minutes.
  @Test func `Thousands of inner runs of a held category run one at a time, and others wait meanwhile`() async throws {
    let names = Names()
    let inside = InsideCounter()
    let count = 3_000
    let inner = AnyWork { _ in
      inside.enter()
      await elsewhere()
      inside.leave()
    }.mutuallyExclusive(names("category"))
    let begun = Gate()
    let outer = AnyWork { _ in
      try await begun.wait()
      try await withThrowingTaskGroup { group in
        for _ in 0..<count { group.addTask { try await inner.runOnce() } }
        try await group.waitForAll()
      }
      expect(inside.entered, equals: count)
    }.mutuallyExclusive(names("category"))
    let run = outer.begin()
    try await begun.arrivals(count: 1)
    let other = AnyWork { _ in expect(inside.entered, equals: count) }.mutuallyExclusive(names("category")).begin()
    begun.open()
    try await run.value
    try await other.value
    expect(inside.most, equals: 1)
  }
}
