import OperationCore
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// Edits of pages by their indices and by predicates.
@Suite(.bounded, .warningsAreIssues)
struct PagesEditingTests {
  @Test
  func `A page is edited at its index`() {
    var pages = List("a", "b", "c")
    let copy = pages
    pages[1].value = "B"
    pages[0].value += "!"
    expect(pages.text, equals: "0a! 1B 2c")
    expect(copy.text, equals: "0a 1b 2c")
    expect(pages[id: 1]?.value, equals: "B")
  }

  @Test
  func `A page that is set at an index replaces the page there and the one with its identifier`() {
    var pages = List("a", "b", "c")
    pages[0] = Page(id: 7, value: "z")
    expect(pages.text, equals: "7z 1b 2c")
    expect(pages[id: 0], equals: nil)
    pages[0] = Page(id: 2, value: "C")
    expect(pages.text, equals: "2C 1b")
    pages[1] = Page(id: 2, value: "CC")
    expect(pages.text, equals: "2CC")
    expect(pages.index(id: 2), equals: 0)
  }

  @Test
  func `A page is inserted at an index, or replaced in place if it is in the list`() {
    var pages = List("a", "b")
    pages.insert(Page(id: 5, value: "m"), at: 1)
    pages.insert(Page(id: 6, value: "f"), at: 0)
    pages.insert(Page(id: 7, value: "l"), at: 4)
    expect(pages.text, equals: "6f 0a 5m 1b 7l")
    pages.insert(Page(id: 7, value: "L"), at: 0)
    expect(pages.text, equals: "6f 0a 5m 1b 7L")
    expect(pages.ids.map { pages.index(id: $0) }, equals: Array(0..<5))
  }

  @Test
  func `Pages are removed at an index and by a predicate`() {
    var pages = List("a", "b", "c", "d")
    expect(pages.remove(at: 1), equals: Page(id: 1, value: "b"))
    expect(pages.filter { $0.id > 1 }.text, equals: "2c 3d")
    pages.removeAll { $0.id == 0 || $0.value == "d" }
    expect(pages.text, equals: "2c")
    #expect(throws: Refused.self) { try pages.removeAll { _ in throw Refused() } }
    expect(pages.text, equals: "2c")
  }

  @Test
  func `A page is updated or appended`() {
    var pages = List("a", "b")
    expect(pages.updateOrAppend(Page(id: 0, value: "A")), equals: Page(id: 0, value: "a"))
    expect(pages.updateOrAppend(Page(id: 4, value: "e")), equals: nil)
    expect(pages.text, equals: "0A 1b 4e")
    expect(List(uniqueElements: [Page(id: 3, value: "x"), Page(id: 1, value: "y")]).text, equals: "3x 1y")
  }

  @Test
  func `Two unique pages with one identifier are a programming error`() async {
    await #expect(processExitsWith: .failure) {
      _ = List(uniqueElements: [Page(id: 3, value: "x"), Page(id: 3, value: "y")])
    }
  }

  @Test
  func `Pages that a filter keeps do not count as edited, and pages set at an index do`() async throws {
    let server = ListServer()
    let store = ListStore.detached(query: server.request, initialValue: List("a", "b", "c"))
    let refetch = start { try await store.refetchAllPages() }
    let first = try await server.script.next()
    store.currentValue = store.currentValue.filter { $0.id != 1 }
    store.currentValue.insert(Page(id: 50, value: "new"), at: 1)
    store.currentValue[2].value = "edited"
    expect(store.text, equals: "0a 50new 2edited")
    first.succeed("A")
    for value in ["B", "C"] { try await server.script.next().succeed(value) }
    _ = try await refetch.value
    expect(store.text, equals: "0A 2edited 50new")
  }
}
