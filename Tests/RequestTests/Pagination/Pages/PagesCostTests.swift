import TestFixtures
import Testing

@testable import OperationPagination

/// The cost of a change: the number of nodes that the new version does not share with an earlier one.
@Suite(.bounded)
struct PagesCostTests {
  private func list(of count: Int) -> Pages<Int, Int> {
    Pages((0..<count).map { Page(id: $0, value: $0) })
  }

  /// The number of nodes that a change makes while an earlier copy is kept.
  private func newNodes(_ pages: Pages<Int, Int>, _ edit: (inout Pages<Int, Int>) -> Void) -> Int {
    var edited = pages
    edit(&edited)
    return edited.entries.nodeIdentifiers.subtracting(pages.entries.nodeIdentifiers).count
      + edited.places.nodeIdentifiers.subtracting(pages.places.nodeIdentifiers).count
  }

  @Test(arguments: [10, 100, 2_000, 50_000])
  func `A change makes few nodes while a copy is kept, however many pages there are`(count: Int) {
    let pages = self.list(of: count)
    // In each of two trees: one node per level, a second one where a node is full, and a new root at most.
    let bound = count == 10 ? 2 : 2 * (2 * 5 + 1)
    #expect(self.newNodes(pages) { $0.append(Page(id: count, value: 0)) } <= bound)
    #expect(self.newNodes(pages) { $0.prepend(Page(id: -1, value: 0)) } <= bound)
    #expect(self.newNodes(pages) { $0[id: count / 2]?.value = -1 } <= bound)
    #expect(self.newNodes(pages) { $0.remove(id: count / 2) } <= bound)
  }

  @Test
  func `With all copies kept, the two thousandth page makes few more nodes than the tenth`() {
    var copies = [self.list(of: 10)]
    func nodes(upTo count: Int) -> Int {
      var nodes = 0
      while let last = copies.last, last.count < count {
        nodes += self.newNodes(last) { pages in
          pages.append(Page(id: pages.count, value: 0))
          copies.append(pages)
        }
      }
      return nodes
    }
    // A hundred pages at a time: one node per level. There are one or two levels at first, and three or four in the
    // end.
    #expect(nodes(upTo: 110) >= 2 * 100)
    _ = nodes(upTo: 1_950)
    #expect(nodes(upTo: 2_050) <= 9 * 100)
    for count in [10, 500, 2_000] { expect(copies[count - 10].count, equals: count) }
  }

  @Test
  func `Appending a page copies the last few pages and the root, and no node in between`() {
    var pages = self.list(of: 2_000)
    var costs: [Int] = []
    for id in 2_000..<2_100 {
      let before = pages
      pages.append(Page(id: id, value: id))
      costs.append(pages.entries.nodeIdentifiers.subtracting(before.entries.nodeIdentifiers).count)
    }
    let room = OrderedTree<Pages<Int, Int>.Entry>.Node.leafWidth
    #expect(costs.count { $0 > 2 } <= 100 / room + 1)
  }

  @Test
  func `Pages that are added at either end fill their nodes`() {
    let count = 3_200
    let appended = self.list(of: count)
    var prepended = Pages<Int, Int>()
    for id in (0..<count).reversed() { prepended.prepend(Page(id: id, value: id)) }
    expect(appended, equals: prepended)
    typealias Node = OrderedTree<Pages<Int, Int>.Entry>.Node
    let leaves = count / Node.leafWidth
    let full = leaves + leaves / (Node.branchWidth - 1) + 5
    #expect(appended.entries.nodeIdentifiers.count <= full)
    #expect(prepended.entries.nodeIdentifiers.count <= full)
  }

  @Test
  func `A change without a copy kept copies nothing`() {
    var pages = self.list(of: 2_000)
    let before = pages.entries.nodeIdentifiers
    pages[id: 1_000]?.value = -1
    expect(pages.entries.nodeIdentifiers, equals: before)
  }

  @Test
  func `Adding at one end and removing at the other does not make the tree grow`() {
    var pages = self.list(of: 10)
    for id in 10..<20_000 {
      pages.append(Page(id: id, value: id))
      pages.remove(id: id - 10)
    }
    expect(pages.map { $0.id }, equals: Array(19_990..<20_000))
    #expect(pages.entries.nodeIdentifiers.count <= 4)
    #expect(pages.places.nodeIdentifiers.count <= 40)
  }
}
