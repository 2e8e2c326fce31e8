import TestFixtures
import Testing

@testable import OperationCircuitBreaker

@Suite(.bounded) struct RecentEntriesTests {
  @Test(arguments: [100, 1_000, 100_000])
  func `A new key in full entries looks at few of them, whatever their number`(count: Int) {
    var entries = RecentEntries<Int>()
    for number in 0..<count { entries.add(number, for: "\(number)", at: .zero) }
    for isSpare in [true, false] {
      var looks = 0
      let removed = entries.makePlace(in: entries.count, usedUntil: .seconds(-1)) { _ in
        looks += 1
        return isSpare
      }
      expect(removed.count, equals: 1)
      #expect(looks <= 2 * RecentEntries<Int>.reach)
    }
  }

  @Test func `Spare values that have not been used for long are removed, and otherwise the one used least recently`() {
    var entries = RecentEntries<Int>()
    for number in 0..<4 { entries.add(number, for: "\(number)", at: .seconds(number)) }
    expect(entries.use("0", at: .seconds(4)), equals: 0)
    expect(entries.makePlace(in: 5, usedUntil: .seconds(9)) { _ in true }, equals: [])
    expect(entries.makePlace(in: 4, usedUntil: .seconds(2)) { $0 != 1 }, equals: [2])
    expect(entries.makePlace(in: 3, usedUntil: .zero) { $0 == 0 }, equals: [0])
    expect(entries.makePlace(in: 1, usedUntil: .zero) { _ in false }, equals: [1, 3])
    expect(entries.count, equals: 0)
  }

  @Test(arguments: ModelRuns.seeds)
  func `Random uses and removals keep to a list`(seed: UInt64) async {
    await ModelRuns.check(200, seed: seed) { generator in
      var entries = RecentEntries<Int>()
      var list: [Int] = []
      for step in 0..<100 {
        let number = Int.random(in: 0..<12, using: &generator)
        let index = list.firstIndex(of: number)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0:
          guard entries.remove("\(number)") == index.map({ list.remove(at: $0) }) else { return "step \(step): remove" }
        case 1:
          let maximum = Int.random(in: 1...8, using: &generator)
          let isSpare: (Int) -> Bool = { $0.isMultiple(of: 2) }
          let removed = entries.makePlace(in: maximum, usedUntil: .seconds(-1), where: isSpare)
          var expected: [Int] = []
          while list.count >= maximum {
            expected.append(list.remove(at: list.firstIndex(where: isSpare) ?? 0))
          }
          guard removed == expected else { return "step \(step): \(removed), not \(expected)" }
        default:
          guard entries.use("\(number)", at: .seconds(step)) == index.map({ list[$0] }) else {
            return "step \(step): use"
          }
          if let index { list.remove(at: index) } else { entries.add(number, for: "\(number)", at: .seconds(step)) }
          list.append(number)
        }
        guard entries.count == list.count, Set(entries.all.values) == Set(list) else { return "step \(step): entries" }
      }
      return nil
    }
  }
}
