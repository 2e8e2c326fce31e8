import Foundation
import OperationTop
import TestFixtures
import Testing

@Suite(.bounded) struct TopScreenTests {
  private let model: TopModel
  private let screen = TopScreen(width: 80, height: 24)

  init() throws {
    self.model = try .shop()
  }

  private func texts(_ view: TopView = TopView(), _ screen: TopScreen? = nil) -> [String] {
    (screen ?? self.screen).lines(self.model, view, connection: "").map(\.text)
  }

  @Test func `The screen of 80 by 24 has the numbers, the stores and the keys`() {
    let texts = self.texts()
    expect(texts.count, equals: 24)
    expect(texts[0], equals: "shop (42)  5 stores  2 running  1 paused  1 failing  0 events/s")
    expect(texts[1], equals: "sorted by path")
    expect(texts[2], equals: "PATH                                 STATE          RUNS/S ERRORS READERS    AGE")
    expect(texts[3], equals: "feed                                 attempt 2                  1       1       ")
    expect(texts[4], equals: "orders                               done                                     1s")
    expect(texts[5], equals: "posts/9                              failed                     7             1m")
    expect(texts[6], equals: "posts/10                             fresh                              2    12s")
    expect(texts[7], equals: "stock                                paused                             1       ")
    #expect(texts[8...22].allSatisfy { $0.isEmpty })
    #expect(texts[23].hasPrefix("q quit"))
  }

  @Test(arguments: [(80, 24), (40, 10), (20, 5), (200, 60), (8, 4), (1, 1)])
  func `No line is longer than the screen, and there are as many as it has`(width: Int, height: Int) {
    var view = TopView()
    for page in [nil, ["A long line of an explanation that has to be broken somewhere", "  and an indented one"]] {
      if let page { view.show(page) }
      let lines = self.texts(view, TopScreen(width: width, height: height))
      expect(lines.count, equals: height)
      #expect(lines.allSatisfy { $0.count <= width }, "\(lines)")
    }
  }

  @Test func `The columns that have no room are left out`() {
    let texts = self.texts(TopView(), TopScreen(width: 40, height: 10))
    expect(texts[2], equals: "PATH                  STATE          AGE")
    expect(texts[6], equals: "posts/10              fresh          12s")
  }

  @Test(arguments: [
    (TopModel.Order.errors, ["posts/9", "feed", "orders", "posts/10", "stock"]),
    (.age, ["posts/9", "posts/10", "orders", "feed", "stock"]),
    (.path, ["feed", "orders", "posts/9", "posts/10", "stock"]),
  ])
  func `Stores are sorted`(order: TopModel.Order, paths: [String]) {
    expect(self.model.sorted(by: order).map(\.path), equals: paths)
  }

  @Test func `Runs per second are counted, and sort the stores`() throws {
    var model = self.model
    for number in 0..<20 {
      model.apply(
        try .message(
          #"{"type":"update","date":100,"events":[{"store":4,"kind":"run.began","date":\#(99 + Double(number) / 20)}]}"#
        )
      )
    }
    expect(model.sorted(by: .rate).first?.path, equals: "orders")
    expect(model.eventRate, equals: 10)
    let row = self.screen.lines(model, TopView(), connection: "")[4].text
    expect(row, equals: "orders                               done              2.0                    1s")
    model.advance(to: 200)
    #expect(
      self.screen.lines(model, TopView(), connection: "")[4].text.contains(
        "done                                     1m"
      )
    )
  }

  @Test func `A long path loses its beginning`() throws {
    var model = self.model
    let long = String(repeating: "x", count: 100)
    model.apply(
      try .message(
        #"{"type":"update","date":100,"stores":[{"id":1,"path":["\"a\"","\"\#(long)end\""],"operation":"Q","kind":"query","#
          + #""status":"idle","subscribers":0,"values":0,"errors":0}]}"#
      )
    )
    let row = self.screen.lines(model, TopView(), connection: "")[3].text
    #expect(row.count == 80 && row.hasPrefix("…xxx") && row.contains("xend never run"))
  }

  @Test func `A store that has gone is no longer shown, and an ended program is named`() throws {
    var model = self.model
    model.apply(try .message(#"{"type":"update","date":100,"removed":[3,1]}"#))
    let texts = self.screen.lines(model, TopView(), connection: "the program has ended").map(\.text)
    #expect(texts[0].hasPrefix("shop (42)  the program has ended  3 stores"))
    #expect(!texts.contains { $0.hasPrefix("feed") })
  }

  @Test func `The plain table has all stores, without colours`() {
    let lines = TopScreen(width: 60, height: 0).plainLines(self.model, TopView())
    expect(lines.count, equals: 7)
    #expect(!lines.contains { $0.contains("\u{1B}") })
    #expect(lines[4].hasPrefix("posts/9"))
  }

  @Test func `What a terminal would obey is not shown`() throws {
    let evil = "\u{1B}]0;owned\u{7}\u{1B}[2J\u{9B}31m\u{90}q\u{7F}\u{8}\u{202E}\u{2066}"
    var model = self.model
    let json = try #require(String(data: try JSONEncoder().encode(evil), encoding: .utf8))
    model.apply(
      try .message(
        #"{"type":"update","date":100,"stores":[{"id":9,"path":[\#(json)],"operation":\#(json),"kind":"query","#
          + #""status":\#(json),"error":\#(json),"subscribers":0,"values":0,"errors":0}]}"#
      )
    )
    var hello = TopModel()
    hello.apply(try .message(#"{"type":"hello","program":\#(json)}"#))
    var view = TopView()
    view.message = evil
    var page = TopView()
    page.show(["line\n\(evil) and a tab\tand 👩‍👩‍👧 ü"])
    let screen = TopScreen(width: 80, height: 24)
    let texts =
      screen.lines(model, view, connection: evil).map(\.text) + screen.lines(hello, page, connection: "").map(\.text)
      + screen.plainLines(model, view) + screen.plainLines(hello, page)
    for text in texts {
      let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
      #expect(isPlain, "\(text.debugDescription)")
      #expect(!text.contains { "\u{202E}\u{2066}".contains($0) })
      #expect(text.count <= 80)
    }
    #expect(texts.contains("line ]0;owned[2J31mq and a tab and 👩‍👩‍👧 ü"))
    #expect(texts.contains { $0.contains("]0;owned") })
  }

  @Test func `A line is drawn over the one that is there`() {
    let text = TopScreen.sequence(of: [TopScreen.Line("a", .bad), TopScreen.Line("b")])
    expect(text, equals: "\u{1B}[H\u{1B}[31ma\u{1B}[0m\u{1B}[K\r\nb\u{1B}[0m\u{1B}[K\u{1B}[J")
  }
}
