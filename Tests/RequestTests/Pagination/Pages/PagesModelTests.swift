import OperationPagination
import TestFixtures
import Testing

/// Pages compared with an array.
@Suite(.bounded)
struct PagesModelTests {
  @Test(arguments: 0..<40)
  func `Random edits give the same pages as an array, and copies stay`(seed: UInt64) {
    self.edit(seed: seed) { $0 }
  }

  /// An identifier that shares its hash value with many others.
  private struct Clash: Hashable {
    let number: Int

    func hash(into hasher: inout Hasher) {
      hasher.combine(self.number % 40)
    }
  }

  @Test(arguments: 0..<10)
  func `Random edits give the same pages as an array if identifiers share their hash values`(seed: UInt64) {
    self.edit(seed: seed) { Clash(number: $0) }
  }

  private func edit<ID: Hashable & Sendable>(seed: UInt64, id: (Int) -> ID) {
    var generator = SeededGenerator(seed: seed)
    var pages: Pages<ID, Int> = []
    var model: [Page<ID, Int>] = []
    var copies: [(pages: Pages<ID, Int>, model: [Page<ID, Int>])] = []
    let span = Int.random(in: 5...400, using: &generator)
    for step in 0..<600 {
      let page = Page(id: id(Int.random(in: 0..<span, using: &generator)), value: step)
      let place = model.firstIndex { $0.id == page.id }
      switch Int.random(in: 0..<16, using: &generator) {
      case 0..<4:
        pages.append(page)
        if let place { model[place] = page } else { model.append(page) }
      case 4..<6:
        pages.prepend(page)
        if let place { model[place] = page } else { model.insert(page, at: 0) }
      case 6..<8:
        let removed = pages.remove(id: page.id)
        expect(removed, equals: place.map { model.remove(at: $0) })
      case 8:
        pages[id: page.id]?.value = step
        if let place { model[place].value = step }
      case 9:
        let other = id(Int.random(in: 0..<span, using: &generator))
        guard other != page.id, let place = model.firstIndex(where: { $0.id == other }) else { continue }
        pages[id: other] = page
        model[place] = page
        if let old = model.indices.first(where: { $0 != place && model[$0].id == page.id }) { model.remove(at: old) }
      case 10:
        let index = Int.random(in: 0...model.count, using: &generator)
        pages.insert(page, at: index)
        if let place { model[place] = page } else { model.insert(page, at: index) }
      case 11:
        guard let index = model.indices.randomElement(using: &generator) else { continue }
        expect(pages.remove(at: index), equals: model.remove(at: index))
      case 12:
        guard let index = model.indices.randomElement(using: &generator) else { continue }
        pages[index] = page
        model[index] = page
        if let old = model.indices.first(where: { $0 != index && model[$0].id == page.id }) { model.remove(at: old) }
      case 13:
        let replaced = pages.updateOrAppend(page)
        expect(replaced, equals: place.map { model[$0] })
        if let place { model[place] = page } else { model.append(page) }
      case 14:
        let divisor = Int.random(in: 3...9, using: &generator)
        expect(Array(pages.filter { $0.value % divisor == 0 }), equals: model.filter { $0.value % divisor == 0 })
        pages.removeAll { $0.value % divisor == 0 }
        model.removeAll { $0.value % divisor == 0 }
      default:
        if Bool.random(using: &generator) { copies.append((pages, model)) } else { copies = copies.suffix(2) }
      }
      expect(pages.count, equals: model.count)
      expect(pages[id: page.id], equals: model.first { $0.id == page.id })
      expect(pages.index(id: page.id), equals: model.firstIndex { $0.id == page.id })
    }
    expect(Array(pages), equals: model)
    expect(pages.indices.map { pages[$0] }, equals: model)
    for copy in copies { expect(Array(copy.pages), equals: copy.model) }
  }
}
