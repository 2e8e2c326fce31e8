import OperationTop
import TestFixtures
import Testing

@Suite(.bounded) struct TopViewTests {
  private let entries: [TopModel.Entry]
  private var view = TopView()

  init() throws {
    self.entries = try TopModel.shop().sorted(by: .path)
  }

  @discardableResult
  private mutating func press(_ keys: TopKey..., height: Int = 20) -> TopView.Request? {
    var request: TopView.Request?
    for key in keys { request = self.view.press(key, self.entries, height: height) }
    return request
  }

  @Test mutating func `Arrows select a store, and Enter explains it`() {
    expect(self.press(.enter), equals: nil)
    expect(self.press(.down, .enter), equals: .explain(3))
    expect(self.press(.down, .down, .character("x")), equals: .explain(2))
    expect(self.press(.up, .character("i")), equals: .invalidate(4))
    expect(self.press(.end, .down, .character("f")), equals: .refetch(5))
    expect(self.press(.home, .up, .enter), equals: .explain(3))
  }

  @Test mutating func `The selected store stays in sight`() {
    self.press(.down, .down, .down, height: 2)
    expect(self.view.top, equals: 1)
    self.press(.home, height: 2)
    expect(self.view.top, equals: 0)
    self.press(.end, height: 2)
    expect(self.view.top, equals: 3)
    self.view.adjust(Array(self.entries.prefix(2)), height: 2)
    expect(self.view.top, equals: 0)
  }

  @Test mutating func `Letters sort, and after a stroke they filter`() {
    self.press(.character("e"))
    expect(self.view.order, equals: .errors)
    self.press(.character("/"), .character("p"), .character("o"), .character("q"), .backspace)
    #expect(self.view.filter == "po" && self.view.order == .errors && self.view.isFiltering)
    self.press(.enter, .character("a"))
    #expect(self.view.filter == "po" && self.view.order == .age)
    self.press(.escape)
    #expect(self.view.filter.isEmpty)
  }

  @Test mutating func `A page scrolls, and another key leaves it`() {
    self.view.show((0..<30).map { "line \($0)" })
    self.press(.down, .pageDown, .pageDown, height: 10)
    expect(self.view.pageTop, equals: 20)
    self.press(.up, height: 10)
    #expect(self.view.pageTop == 19 && self.view.page != nil)
    expect(self.press(.character("q")), equals: nil)
    expect(self.view.page, equals: nil)
    expect(self.press(.character("q")), equals: .quit)
    expect(self.press(.interrupt), equals: .quit)
  }

  @Test func `A filter finds words in paths and operations`() throws {
    let model = try TopModel.shop()
    expect(model.sorted(by: .path, filter: "POSTS").map(\.path), equals: ["posts/9", "posts/10"])
    expect(model.sorted(by: .path, filter: "post query2").map(\.path), equals: ["posts/9"])
    #expect(model.sorted(by: .path, filter: "nothing").isEmpty)
  }
}

@Suite(.bounded) struct TopKeyTests {
  @Test func `Keys are read from what a terminal sends`() {
    let bytes = Array("a\u{1B}[A\u{1B}[B\u{1B}OH\u{1B}[6~é\r\u{7F}\u{3}\u{1B}[15~z\u{1B}".utf8)
    expect(
      TopKey.keys(in: bytes),
      equals: [
        .character("a"), .up, .down, .home, .pageDown, .character("é"), .enter, .backspace, .interrupt, .character("z"),
        .escape,
      ]
    )
  }
}
