import Synchronization
import TestFixtures
import Testing

@testable import OperationPaths

@Suite(.bounded) struct PathTrieTests {
  @Test func `Removing a value prunes nodes that lead to no value`() {
    var trie = PathTrie<Int>()
    expect(trie.nodeCount, equals: 0)
    trie[["a", 1, "x"]] = 1
    expect(trie.nodeCount, equals: 4)
    trie[["a", 2]] = 2
    trie[["a"]] = 3
    expect(trie.nodeCount, equals: 5)
    trie[["a", 1, "x"]] = nil
    expect(trie.nodeCount, equals: 3)
    trie[["a"]] = nil
    expect(trie.nodeCount, equals: 3)
    trie[["a", 2]] = nil
    expect(trie.nodeCount, equals: 0)
    trie[[]] = 1
    expect(trie.nodeCount, equals: 1)
    expect(trie.removeValue(at: []), equals: 1)
    expect(trie.nodeCount, equals: 0)
  }

  @Test func `Removing a prefix prunes its ancestors`() {
    var trie = PathTrie<Int>()
    trie[["a", "b", "c", 1]] = 1
    trie[["a", "b", "c", 2]] = 2
    trie[["z"]] = 3
    expect(trie.removeAll(matching: ["a", "b", "c"]).count, equals: 2)
    expect(trie.nodeCount, equals: 2)
    expect(trie.removeAll(matching: ["a"]).count, equals: 0)
    expect(trie.removeAll().count, equals: 1)
    expect(trie.nodeCount, equals: 0)
  }

  @Test func `A look-up leaves no trace`() {
    var trie = PathTrie<Int>()
    expect(trie[["a", 1]], equals: nil)
    expect(trie.removeValue(at: ["a"]), equals: nil)
    trie[["a", 1]] = nil
    #expect(throws: CancellationError.self) {
      try trie.value(at: ["a", 2]) { () throws(CancellationError) -> Int in throw CancellationError() }
    }
    #expect(trie.nodeCount == 0 && trie.isEmpty)
  }

  @Test func `A value is made only where none exists`() {
    var trie = PathTrie<Int>()
    expect(trie.value(at: ["a"]) { 1 }, equals: 1)
    expect(trie.value(at: ["a"]) { 2 }, equals: 1)
    expect(trie.count, equals: 1)
  }

  @Test func `compactMap drops values and prunes`() {
    var trie = PathTrie<Int>()
    for number in 0..<100 { trie[["a", number, "x"]] = number }
    trie[["b"]] = -1
    let even = trie.compactMap(matching: ["a"]) { $0.isMultiple(of: 2) ? "\($0)" : nil }
    expect(even.count, equals: 50)
    expect(even.nodeCount, equals: 102)
    expect(even[["a", 4, "x"]], equals: "4")
    expect(even[["a", 5, "x"]], equals: nil)
    expect(trie.compactMap { _ in nil as Int? }.nodeCount, equals: 0)
    #expect(trie.compactMap(matching: ["c"]) { $0 }.isEmpty)
    var visited: [Int] = []
    trie.forEach(matching: ["a", 7]) { visited.append($0) }
    expect(visited, equals: [7])
  }

  @Test func `A path of 100,000 elements takes no stack`() {
    let long = OperationPath(0..<100_000)
    var trie = PathTrie<Int>()
    trie[long] = 1
    trie[long.appending("x")] = 2
    trie[["a"]] = 3
    expect(trie[long], equals: 1)
    expect(trie.nodeCount, equals: 100_003)
    expect(trie.subtrie(matching: OperationPath(0..<50_000)).count, equals: 2)
    expect(trie.subtrie(matching: long)[long.appending("x")], equals: 2)
    let copy = trie
    expect(trie.removeAll(matching: [0]).count, equals: 2)
    expect(trie.nodeCount, equals: 2)
    expect(copy[long], equals: 1)
    var collection = OperationPathableCollection([PathItem(path: long), PathItem(path: [0, 1])])
    expect(collection.map(\.path.count), equals: [2, 100_000])
    #expect(collection.removeValue(forPath: long) != nil)
  }

  @Test func `Many entries come and go`() {
    var trie = PathTrie<Int>()
    for number in 0..<50_000 { trie[["g", number / 10, number % 10]] = number }
    expect(trie.count, equals: 50_000)
    expect(trie.nodeCount, equals: 55_002)
    for number in stride(from: 0, to: 50_000, by: 7) { expect(trie[["g", number / 10, number % 10]], equals: number) }
    for group in 0..<4_990 { expect(trie.removeAll(matching: ["g", group]).count, equals: 10) }
    expect(trie.count, equals: 100)
    expect(trie.nodeCount, equals: 112)
    expect(trie[["g", 4_995, 3]], equals: 49_953)
    var values: [Int] = []
    trie.forEach(matching: []) { values.append($0) }
    expect(values, equals: Array(49_900..<50_000))
    for number in 0..<1_000 { trie[["h", number]] = number }
    expect(trie.count, equals: 1_100)
    expect(trie.removeAll(matching: ["h"]).count, equals: 1_000)
    expect(trie.nodeCount, equals: 112)
  }

  @Test func `Storage shrinks with the values`() {
    var trie = PathTrie<Int>()
    for number in 0..<20_000 { trie[["g", number]] = number }
    let full = trie.placeCount
    for number in 0..<19_990 { trie[["g", number]] = nil }
    expect(trie[["g", 19_995]], equals: 19_995)
    #expect(trie.placeCount * 20 < full)
    for _ in 0..<20_000 {
      trie[["g", "x"]] = 1
      trie[["g", "x"]] = nil
    }
    #expect(trie.placeCount * 20 < full)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `A trie follows a dictionary`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var trie = PathTrie<Int>()
    var model: [OperationPath: Int] = [:]
    for step in 0..<3_000 {
      var path = generator.path(upTo: 2)
      if Bool.random(using: &generator) { path.append(Int.random(in: 0..<200, using: &generator)) }
      if Int.random(in: 0..<1_000, using: &generator) < (step / 750 % 2 == 0 ? 700 : 300) {
        expect(trie.updateValue(step, at: path), equals: model.updateValue(step, forKey: path))
      } else {
        expect(trie.removeValue(at: path), equals: model.removeValue(forKey: path))
      }
    }
    expect(trie.count, equals: model.count)
    for (path, value) in model { expect(trie[path], equals: value) }
    let prefixes = Set(model.keys.flatMap { path in (0...path.count).map { OperationPath(path.prefix($0)) } })
    expect(trie.nodeCount, equals: prefixes.count)
    for path in model.keys { trie[path] = nil }
    #expect(trie.nodeCount == 0 && trie.placeCount == 0)
  }

  @Test func `Removed values and elements are released`() {
    let alive = LiveObjects()
    var trie = PathTrie<LiveObject>()
    for number in 0..<500 { trie[["g", number, LiveObject(alive)]] = LiveObject(alive) }
    expect(alive.count, equals: 1_000)
    for number in 0..<250 { trie.removeAll(matching: ["g", number]) }
    expect(alive.count, equals: 500)
    trie.removeAll(matching: ["g"])
    expect(alive.count, equals: 0)
  }
}

private final class LiveObjects: Sendable {
  private let number = Mutex(0)

  var count: Int { number.withLock { $0 } }

  func add(_ difference: Int) { number.withLock { $0 += difference } }
}

private final class LiveObject: Hashable, Sendable {
  private let objects: LiveObjects

  init(_ objects: LiveObjects) {
    self.objects = objects
    objects.add(1)
  }

  deinit { objects.add(-1) }

  static func == (lhs: LiveObject, rhs: LiveObject) -> Bool { lhs === rhs }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
