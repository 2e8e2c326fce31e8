import TestFixtures
import Testing

@testable import OperationPagination

/// The tree of pages compared with a sorted array, with enough elements for several levels.
@Suite(.bounded)
struct OrderedTreeTests {
  private typealias Tree = OrderedTree<Int>

  private struct Model {
    var elements: [(key: Int, element: Int)] = []

    func index(of key: Int) -> Int {
      var (low, high) = (0, self.elements.count)
      while low < high {
        let middle = (low + high) / 2
        if self.elements[middle].key < key { low = middle + 1 } else { high = middle }
      }
      return low
    }

    mutating func set(_ element: Int, for key: Int) {
      let index = self.index(of: key)
      let isThere = index < self.elements.count && self.elements[index].key == key
      self.elements.replaceSubrange(index..<(isThere ? index + 1 : index), with: [(key, element)])
    }
  }

  private func expectSame(_ tree: Tree, _ model: Model, _ location: SourceLocation = #_sourceLocation) {
    var elements: [Int] = []
    tree.visit { elements.append($0) }
    let offsets = model.elements.map { tree.offset(of: $0.key) }
    expect(tree.count, equals: model.elements.count, sourceLocation: location)
    expect(elements, equals: model.elements.map(\.element), sourceLocation: location)
    expect((0..<tree.count).map { tree.element(at: $0) }, equals: elements, sourceLocation: location)
    expect(offsets, equals: Array(0..<tree.count), sourceLocation: location)
    expect(model.elements.map { tree[$0.key] }, equals: elements, sourceLocation: location)
    expect(tree.first?.key, equals: model.elements.first?.key, sourceLocation: location)
    expect(tree.last?.key, equals: model.elements.last?.key, sourceLocation: location)
  }

  private func depth(of node: Tree.Node) -> Int {
    switch node {
    case .leaves: 1
    case .branches(let branches): 1 + (branches.map { self.depth(of: $0.node) }.max() ?? 0)
    }
  }

  @Test(arguments: 0..<8)
  func `Random changes follow an array, and earlier versions stay`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var tree = Tree()
    var model = Model()
    var versions: [(tree: Tree, model: Model)] = []
    // How often a phase inserts at the ends and in between, and removes.
    var weights = (end: 1, front: 1, middle: 1, removal: 1)
    for step in 0..<3_000 {
      if step.isMultiple(of: 500) {
        func weight() -> Int { Int.random(in: 0...4, using: &generator) }
        weights = (weight() + 1, weight(), weight(), weight())
        versions.append((tree, model))
      }
      let (first, last) = (model.elements.first?.key ?? 0, model.elements.last?.key ?? 0)
      let sum = weights.end + weights.front + weights.middle + weights.removal
      switch Int.random(in: 0..<sum, using: &generator) {
      case ..<weights.end:
        let key = last + Int.random(in: 1...3, using: &generator)
        tree.append(step, for: key)
        model.set(step, for: key)
      case ..<(weights.end + weights.front):
        let key = first - Int.random(in: 1...3, using: &generator)
        tree[key] = step
        model.set(step, for: key)
      case ..<(weights.end + weights.front + weights.middle):
        let key = Int.random(in: first...last, using: &generator)
        tree[key] = step
        model.set(step, for: key)
      default:
        guard !model.elements.isEmpty else { continue }
        let inner = Int.random(in: model.elements.indices, using: &generator)
        let index = [0, inner, model.elements.count - 1][Int.random(in: 0..<3, using: &generator)]
        let key = model.elements[index].key
        tree[key] = nil
        model.elements.remove(at: index)
        expect(tree[key], equals: nil)
        expect(tree.offset(of: key), equals: nil)
      }
      expect(tree.last?.key, equals: model.elements.last?.key)
    }
    self.expectSame(tree, model)
    for version in versions { self.expectSame(version.tree, version.model) }
    for key in model.elements.map(\.key) { tree[key] = nil }
    #expect(tree.isEmpty)
    expect(tree.first?.key, equals: nil)
  }

  @Test
  func `A tree stays low, at whichever end it grows`() {
    let count = 10_000
    var (appended, prepended, alternating) = (Tree(), Tree(), Tree())
    for key in 0..<count {
      appended.append(key, for: key)
      prepended[-key] = key
      if key.isMultiple(of: 2) { alternating.append(key, for: key) } else { alternating[-key] = key }
    }
    for tree in [appended, prepended, alternating] {
      expect(tree.count, equals: count)
      #expect(self.depth(of: tree.root) <= 5)
    }
  }
}
