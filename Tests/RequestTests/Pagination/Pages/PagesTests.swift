import Foundation
import OperationPagination
import TestFixtures
import Testing

/// Pages as a collection: in the order in which they were added, each identifier once.
@Suite(.bounded)
struct PagesTests {
  @Test
  func `A literal keeps its order`() {
    let pages: List = [Page(id: 7, value: "a"), Page(id: 3, value: "b"), Page(id: 5, value: "c")]
    expect(pages.text, equals: "7a 3b 5c")
    expect(pages.count, equals: 3)
    expect(Array(pages.ids), equals: [7, 3, 5])
    expect(pages[1], equals: Page(id: 3, value: "b"))
    expect(pages.first?.id, equals: 7)
    expect(pages.last?.id, equals: 5)
    expect(pages.index(id: 5), equals: 2)
    expect(pages.index(id: 4), equals: nil)
    expect(Array(pages.reversed().map(\.id)), equals: [5, 3, 7])
  }

  @Test
  func `Of pages with one identifier the last replaces the first`() {
    var pages: List = [Page(id: 0, value: "a"), Page(id: 1, value: "b"), Page(id: 0, value: "c")]
    expect(pages.text, equals: "0c 1b")
    pages.append(Page(id: 0, value: "d"))
    pages.prepend(Page(id: 1, value: "e"))
    expect(pages.text, equals: "0d 1e")
  }

  @Test
  func `Pages are added at either end and removed anywhere`() {
    var pages: List = []
    #expect(pages.isEmpty)
    expect(pages.first, equals: nil)
    expect(pages.last, equals: nil)
    pages.append(Page(id: 0, value: "a"))
    pages.prepend(Page(id: -1, value: "b"))
    pages.append(Page(id: 1, value: "c"))
    expect(pages.text, equals: "-1b 0a 1c")
    expect(pages.remove(id: 0), equals: Page(id: 0, value: "a"))
    expect(pages.remove(id: 0), equals: nil)
    expect(pages.text, equals: "-1b 1c")
    pages.append(Page(id: 0, value: "d"))
    expect(pages.text, equals: "-1b 1c 0d")
    pages.removeAll()
    #expect(pages.isEmpty)
    pages.prepend(Page(id: 4, value: "e"))
    expect(pages.text, equals: "4e")
  }

  @Test
  func `The subscript of an identifier finds, edits, adds and removes`() {
    var pages = List("a", "b", "c")
    expect(pages[id: 1]?.value, equals: "b")
    expect(pages[id: 9], equals: nil)
    pages[id: 1]?.value = "B"
    pages[id: 9]?.value = "absent"
    expect(pages.text, equals: "0a 1B 2c")
    pages[id: 0] = nil
    pages[id: 5] = Page(id: 5, value: "d")
    expect(pages.text, equals: "1B 2c 5d")
    #expect(pages.contains(id: 5))
    #expect(!pages.contains(id: 0))
  }

  @Test
  func `A page that is set for another identifier replaces that page`() {
    var pages = List("a", "b", "c")
    pages[id: 1] = Page(id: 7, value: "x")
    expect(pages.text, equals: "0a 7x 2c")
    expect(pages[id: 1], equals: nil)
    pages[id: 0] = Page(id: 2, value: "y")
    expect(pages.text, equals: "2y 7x")
    pages[id: 8] = Page(id: 7, value: "z")
    expect(pages.text, equals: "2y 7z")
  }

  @Test
  func `Mapping to pages returns pages, and mapping to anything else an array`() throws {
    let pages = List("a", "b")
    let edited = pages.map { page in
      var page = page
      page.value += "!"
      return page
    }
    expect(edited.text, equals: "0a! 1b!")
    let lengths: Pages<Int, Int> = pages.map { Page(id: $0.id, value: $0.value.count) }
    expect(lengths, equals: [Page(id: 0, value: 1), Page(id: 1, value: 1)])
    let values = pages.map { $0.value }
    expect(values, equals: ["a", "b"])
    #expect(throws: Refused()) {
      _ = try pages.map { page throws(Refused) -> ListPage in throw Refused() }
    }
  }

  @Test
  func `A copy keeps the pages that are removed from the original`() {
    var pages = List("a", "b", "c")
    let copy = pages
    pages[id: 0]?.value = "x"
    pages.remove(id: 1)
    pages.append(Page(id: 3, value: "d"))
    pages.prepend(Page(id: -1, value: "e"))
    expect(copy.text, equals: "0a 1b 2c")
    expect(pages.text, equals: "-1e 0x 2c 3d")
  }

  @Test
  func `Pages are equal if they are in the same order, however they were made`() {
    var pages = List(from: 1, "b")
    pages.prepend(Page(id: 0, value: "a"))
    pages.append(Page(id: 2, value: "x"))
    pages.remove(id: 2)
    expect(pages, equals: List("a", "b"))
    expect(pages.hashValue, equals: List("a", "b").hashValue)
    #expect(pages != [Page(id: 1, value: "b"), Page(id: 0, value: "a")])
    #expect(pages != List("a"))
    expect(pages.description, equals: "[Page(id: 0, value: a), Page(id: 1, value: b)]")
  }

  @Test
  func `Pages are encoded as an array`() throws {
    let pages = List("a", "b")
    let data = try JSONEncoder().encode(pages)
    try expect(JSONDecoder().decode(List.self, from: data), equals: pages)
    try expect(JSONDecoder().decode([ListPage].self, from: data), equals: Array(pages))
  }

  @Test
  func `Identifiers with one hash value are distinct`() {
    struct Clash: Hashable {
      let number: Int
      func hash(into hasher: inout Hasher) {}
    }
    var pages = Pages<Clash, Int>((0..<5).map { Page(id: Clash(number: $0), value: $0) })
    expect(pages.map { $0.value }, equals: [0, 1, 2, 3, 4])
    expect(pages[id: Clash(number: 3)]?.value, equals: 3)
    expect(pages[id: Clash(number: 9)], equals: nil)
    for number in [0, 3, 4, 1] {
      expect(pages.remove(id: Clash(number: number))?.value, equals: number)
      #expect(!pages.contains(id: Clash(number: number)))
    }
    expect(pages.map { $0.value }, equals: [2])
  }
}
