import Testing

@testable import OperationPagination

/// What a change costs: the nodes that the new version does not share with one from before.
@Suite
struct PagesCostTests {
  private func list(of count: Int) -> Pages<Int, Int> {
    Pages((0..<count).map { Page(id: $0, value: $0) })
  }

  /// How many nodes a change makes while a copy from before is kept.
  private func newNodes(_ pages: Pages<Int, Int>, _ edit: (inout Pages<Int, Int>) -> Void) -> Int {
    var edited = pages
    edit(&edited)
    return edited.entries.nodeIdentifiers.subtracting(pages.entries.nodeIdentifiers).count
      + edited.places.nodeIdentifiers.subtracting(pages.places.nodeIdentifiers).count
  }

  @Test(arguments: [10, 100, 2_000, 50_000])
  func `A change with a copy kept makes a few nodes, however many pages there are`(count: Int) {
    let pages = self.list(of: count)
    // Two trees of at most four levels, and a split on the way.
    let bound = count == 10 ? 4 : 12
    #expect(self.newNodes(pages) { $0.append(Page(id: count, value: 0)) } <= bound)
    #expect(self.newNodes(pages) { $0.prepend(Page(id: -1, value: 0)) } <= bound)
    #expect(self.newNodes(pages) { $0[id: count / 2]?.value = -1 } <= bound)
    #expect(self.newNodes(pages) { $0.remove(id: count / 2) } <= bound)
  }

  @Test
  func `A sequence fills its nodes from either end`() {
    let count = 3_200
    let appended = self.list(of: count)
    var prepended = Pages<Int, Int>()
    for id in (0..<count).reversed() { prepended.prepend(Page(id: id, value: id)) }
    #expect(appended == prepended)
    let full = count / 32 + count / 1_024 + 3
    #expect(appended.entries.nodeIdentifiers.count <= full)
    #expect(prepended.entries.nodeIdentifiers.count <= full)
  }

  @Test
  func `A change that nobody else sees copies nothing`() {
    var pages = self.list(of: 2_000)
    let before = pages.entries.nodeIdentifiers
    pages[id: 1_000]?.value = -1
    #expect(pages.entries.nodeIdentifiers == before)
  }

  @Test
  func `A window that moves along does not grow`() {
    var pages = self.list(of: 10)
    for id in 10..<20_000 {
      pages.append(Page(id: id, value: id))
      pages.remove(id: id - 10)
    }
    #expect(pages.map { $0.id } == Array(19_990..<20_000))
    #expect(pages.entries.nodeIdentifiers.count <= 4)
    #expect(pages.places.nodeIdentifiers.count <= 40)
  }
}
