import OperationCore
import TestFixtures
import Testing

@Suite(.bounded) struct OperationPathableCollectionTests {
  private typealias Items = OperationPathableCollection<PathItem>

  @Test func `An update inserts and replaces`() {
    var items = Items()
    #expect(items.isEmpty)
    expect(items.update(PathItem(path: ["a", 1], number: 1)), equals: nil)
    expect(items.update(PathItem(path: ["a", 1], number: 2)), equals: PathItem(path: ["a", 1], number: 1))
    expect(items.update(PathItem(path: [], number: 3)), equals: nil)
    expect(items.count, equals: 2)
    expect(items[["a", 1]]?.number, equals: 2)
    expect(items[[]]?.number, equals: 3)
    expect(items[["a"]], equals: nil)
    expect(items[["a", UInt8(1)]], equals: nil)
    expect(items.removeValue(forPath: ["a"]), equals: nil)
    expect(items.removeValue(forPath: ["a", 1])?.number, equals: 2)
    expect(items.removeValue(forPath: ["a", 1]), equals: nil)
    expect(items.count, equals: 1)
    items.removeAll()
    #expect(items.isEmpty && items.count == 0 && items.startIndex == items.endIndex)
  }

  @Test func `Literals, paths and equality`() {
    let items: Items = [PathItem(path: ["a"]), PathItem(path: ["b"], number: 1), PathItem(path: ["b"], number: 2)]
    expect(items.paths, equals: [["a"], ["b"]])
    expect(items, equals: [PathItem(path: ["b"], number: 2), PathItem(path: ["a"])])
    #expect(items != [PathItem(path: ["b"], number: 1), PathItem(path: ["a"])])
    #expect(items != [PathItem(path: ["a"])])
    #expect(Items().paths == [] && Items() == [])
  }

  @Test func `Values that satisfy a condition are removed`() {
    var items = Items((0..<10).map { PathItem(path: ["a", $0], number: $0) })
    items.removeAll { $0.number.isMultiple(of: 2) }
    expect(items.map(\.number), equals: [1, 3, 5, 7, 9])
    #expect(throws: CancellationError.self) {
      try items.removeAll { item throws(CancellationError) in
        if item.number == 9 { throw CancellationError() }
        return true
      }
    }
    expect(items.count, equals: 5)
  }

  @Test func `Of several values with one path the last one stays`() {
    let items = Items([PathItem(path: ["a"], number: 1), PathItem(path: ["b"]), PathItem(path: ["a"], number: 2)])
    expect(items.count, equals: 2)
    expect(items[["a"]]?.number, equals: 2)
  }

  @Test func `Matching takes the prefix and everything below it`() {
    let paths: [OperationPath] = [["a"], ["a", 1], ["a", 1, "x"], ["a", 2], ["b", 1], ["ab"]]
    var items = Items(paths.map { PathItem(path: $0) })
    expect(items.collection(matching: ["a"]).map(\.path), equals: [["a"], ["a", 1], ["a", 1, "x"], ["a", 2]])
    expect(items.collection(matching: ["a", 1]).map(\.path), equals: [["a", 1], ["a", 1, "x"]])
    #expect(items.collection(matching: ["a", 3]).isEmpty)
    expect(items.collection(matching: []).count, equals: paths.count)
    let removed = items.removeAll(matching: ["a", 1])
    expect(removed.map(\.path), equals: [["a", 1], ["a", 1, "x"]])
    #expect(removed[["a", 1, "x"]] != nil)
    expect(items.map(\.path), equals: [["a"], ["a", 2], ["b", 1], ["ab"]])
    #expect(items.removeAll(matching: ["c"]).isEmpty)
    expect(items.removeAll(matching: []).count, equals: 4)
    #expect(items.isEmpty)
  }

  @Test func `Copies are independent`() {
    var items = Items((0..<100).map { PathItem(path: ["a", $0], number: $0) })
    let copy = items
    let matching = items.collection(matching: ["a"])
    let everything = items.collection(matching: [])
    items.update(PathItem(path: ["a", 1], number: -1))
    items.removeValue(forPath: ["a", 2])
    items.update(PathItem(path: ["a", 100]))
    for other in [copy, matching, everything] {
      expect(other.count, equals: 100)
      expect(other.map(\.number), equals: Array(0..<100))
    }
    var changed = matching
    changed.removeAll(matching: ["a"])
    expect(matching.count, equals: 100)
    expect(items.count, equals: 100)
  }

  @Test func `An iteration sees the values of its start`() {
    var items = Items((0..<10).map { PathItem(path: ["a", $0]) })
    var visited = 0
    for item in items {
      items.removeValue(forPath: item.path)
      visited += 1
    }
    expect(visited, equals: 10)
    #expect(items.isEmpty)
  }

  @Test func `Siblings come after their parent in the order of arrival`() {
    let paths: [OperationPath] = [["b", 2], ["a"], ["b", 1], ["b"], ["a", "x"], []]
    let items = Items(paths.map { PathItem(path: $0) })
    expect(items.map(\.path), equals: [[], ["b"], ["b", 2], ["b", 1], ["a"], ["a", "x"]])
  }

  @Test func `Positions and iteration agree`() {
    var generator = SeededGenerator(seed: 7)
    let items = Items((0..<200).map { PathItem(path: generator.path(), number: $0) })
    expect(items.indices.map { items[$0] }, equals: Array(items))
    expect(items.indices.count, equals: items.count)
    expect(items.first, equals: Array(items).first)
    expect(items.dropFirst(3).map(\.number), equals: Array(items.map(\.number).dropFirst(3)))
  }

  @Test func `A description lists the paths and their values`() {
    expect(Items().description, equals: "[:]")
    let items = Items([PathItem(path: ["users", 1], number: 1), PathItem(path: [], number: 2)])
    expect(items.description, equals: #"[[]: item 2, ["users", 1]: item 1]"#)
  }

  @Test(arguments: 1...UInt64(ModelRuns.count(10, parts: 200)))
  func `A collection follows a plain list of pairs`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var items = Items()
    var model: [PathItem] = []
    var snapshots: [(Items, Set<PathItem>)] = []
    for step in 0..<400 {
      let path = generator.path()
      switch Int.random(in: 0..<20, using: &generator) {
      case 0..<11:
        let item = PathItem(path: path, number: step)
        let replaced = model.first { $0.path == path }
        model.removeAll { $0.path == path }
        model.append(item)
        expect(items.update(item), equals: replaced)
      case 11..<16:
        let removed = model.first { $0.path == path }
        model.removeAll { $0.path == path }
        expect(items.removeValue(forPath: path), equals: removed)
      case 16 where !path.isEmpty || step % 10 == 0:
        let removed = model.filter { path.isPrefix(of: $0.path) }
        model.removeAll { path.isPrefix(of: $0.path) }
        expect(Set(items.removeAll(matching: path)), equals: Set(removed))
      case 17:
        snapshots.append((items, Set(model)))
      default:
        break
      }
      let matching = items.collection(matching: path)
      expect(Set(matching), equals: Set(model.filter { path.isPrefix(of: $0.path) }))
      #expect(matching.allSatisfy { matching[$0.path] == $0 })
      expect(items[path], equals: model.first { $0.path == path })
      expect(items.count, equals: model.count)
      expect(Set(items), equals: Set(model))
    }
    for (snapshot, expected) in snapshots { expect(Set(snapshot), equals: expected) }
  }
}
