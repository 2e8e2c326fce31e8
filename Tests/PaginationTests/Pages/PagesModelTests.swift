import OperationPagination
import Testing

/// Pages against an array that does the same the slow way.
@Suite
struct PagesModelTests {
  @Test(arguments: 0..<40)
  func `Random edits do what they do to an array, and copies stay`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var pages: Pages<Int, Int> = []
    var model: [Page<Int, Int>] = []
    var copies: [(pages: Pages<Int, Int>, model: [Page<Int, Int>])] = []
    let span = Int.random(in: 5...400, using: &generator)
    for step in 0..<600 {
      let page = Page(id: Int.random(in: 0..<span, using: &generator), value: step)
      let place = model.firstIndex { $0.id == page.id }
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<4:
        pages.append(page)
        if let place { model[place] = page } else { model.append(page) }
      case 4..<6:
        pages.prepend(page)
        if let place { model[place] = page } else { model.insert(page, at: 0) }
      case 6..<8:
        let removed = pages.remove(id: page.id)
        #expect(removed == place.map { model.remove(at: $0) })
      case 8:
        pages[id: page.id]?.value = step
        if let place { model[place].value = step }
      default:
        if Bool.random(using: &generator) { copies.append((pages, model)) } else { copies = copies.suffix(2) }
      }
      #expect(pages.count == model.count)
      #expect(pages[id: page.id] == model.first { $0.id == page.id })
      #expect(pages.index(id: page.id) == model.firstIndex { $0.id == page.id })
    }
    #expect(Array(pages) == model)
    #expect(pages.indices.map { pages[$0] } == model)
    for copy in copies { #expect(Array(copy.pages) == copy.model) }
  }
}
