import OperationLimits
import TestFixtures
import Testing

@Suite(.bounded) struct IndexedHeapTests {
  /// A number whose comparisons are counted.
  private struct Counted: Comparable, Sendable {
    let number: Int
    let comparisons: Counter

    static func == (one: Self, other: Self) -> Bool { one.number == other.number }

    static func < (one: Self, other: Self) -> Bool {
      one.comparisons.increment()
      return one.number < other.number
    }
  }

  @Test(arguments: [100, 10_000])
  func `A change takes a number of comparisons that grows with the logarithm of the number of keys`(count: Int) {
    let comparisons = Counter()
    var heap = IndexedHeap<Counted>()
    for index in 0..<count { heap.set(Counted(number: index, comparisons: comparisons), for: index) }
    let levels = count.bitWidth - count.leadingZeroBitCount
    for number in [0, count / 2, count] {
      let before = comparisons.value
      heap.set(Counted(number: -1, comparisons: comparisons), for: number)
      expect(heap.first, equals: number)
      heap.set(nil, for: number)
      #expect(comparisons.value - before <= 6 * levels)
    }
  }

  @Test(arguments: ModelRuns.seeds)
  func `The first index is the one with the smallest key`(seed: UInt64) async {
    await ModelRuns.check(200, seed: seed) { generator in
      let comparisons = Counter()
      var heap = IndexedHeap<Counted>()
      var keys: [Int: Int] = [:]
      for step in 0..<100 {
        let index = Int.random(in: 0..<20, using: &generator)
        // Each key occurs once at most.
        let key = Bool.random(using: &generator) ? Int.random(in: 0..<50, using: &generator) * 100 + index : nil
        heap.set(key.map { Counted(number: $0, comparisons: comparisons) }, for: index)
        keys[index] = key
        let first = keys.min { $0.value < $1.value }?.key
        guard heap.first == first else { return "step \(step): another first index" }
      }
      return nil
    }
  }
}
