/// What is chosen to be seen, and what the keys do to it.
package struct TopView: Sendable {
  /// What a key asks the program that is looked at.
  package enum Request: Hashable, Sendable {
    case explain(Int)
    case invalidate(Int)
    case refetch(Int)
    case quit
  }

  package var order = TopModel.Order.path
  package var filter = ""
  /// Whether keys are letters of the filter.
  package private(set) var isFiltering = false
  /// The store that is selected, by its id.
  package private(set) var selected: Int?
  /// The first store in sight.
  package private(set) var top = 0
  /// What is shown in place of the list: an explanation, or the keys.
  package private(set) var page: [String]?
  /// The first line in sight of it.
  package private(set) var pageTop = 0
  /// What happened last, in the last line.
  package var message = ""

  package init() {}

  package mutating func show(_ lines: [String]) {
    self.page = lines
    self.pageTop = 0
  }

  /// Does what a key says.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - entries: The stores in the order in which they are shown.
  ///   - height: The number of stores that have room.
  /// - Returns: What is asked of the program, if anything.
  package mutating func press(_ key: TopKey, _ entries: [TopModel.Entry], height: Int) -> Request? {
    self.message = ""
    if key == .interrupt { return .quit }
    if self.isFiltering {
      self.edit(key)
      return nil
    }
    if self.page != nil { return self.pressOnPage(key, height: height) }
    switch key {
    case .up, .character("k"): self.move(by: -1, entries, height)
    case .down, .character("j"): self.move(by: 1, entries, height)
    case .pageUp: self.move(by: -height, entries, height)
    case .pageDown: self.move(by: height, entries, height)
    case .home: self.move(by: -entries.count, entries, height)
    case .end: self.move(by: entries.count, entries, height)
    case .character("p"): self.order = .path
    case .character("r"): self.order = .rate
    case .character("e"): self.order = .errors
    case .character("a"): self.order = .age
    case .character("/"): self.isFiltering = true
    case .escape: self.filter = ""
    case .character("q"): return .quit
    case .character("?"): self.show(Self.keys)
    case .enter, .character("x"): return self.selected.map { .explain($0) }
    case .character("i"): return self.selected.map { .invalidate($0) }
    case .character("f"): return self.selected.map { .refetch($0) }
    default: break
    }
    return nil
  }

  private mutating func pressOnPage(_ key: TopKey, height: Int) -> Request? {
    let last = max((self.page?.count ?? 0) - height, 0)
    switch key {
    case .up, .character("k"): self.pageTop = max(self.pageTop - 1, 0)
    case .down, .character("j"): self.pageTop = min(self.pageTop + 1, last)
    case .pageUp: self.pageTop = max(self.pageTop - height, 0)
    case .pageDown: self.pageTop = min(self.pageTop + height, last)
    default: self.page = nil
    }
    return nil
  }

  private mutating func edit(_ key: TopKey) {
    switch key {
    case .character(let character): self.filter.append(character)
    case .backspace: self.filter = String(self.filter.dropLast())
    case .enter: self.isFiltering = false
    case .escape: (self.isFiltering, self.filter) = (false, "")
    default: break
    }
  }

  private mutating func move(by step: Int, _ entries: [TopModel.Entry], _ height: Int) {
    guard !entries.isEmpty else { return }
    let index = entries.firstIndex { $0.row.id == self.selected }
    let next = min(max((index ?? (step > 0 ? -1 : 0)) + step, 0), entries.count - 1)
    self.selected = entries[next].row.id
    self.scroll(to: next, count: entries.count, height)
  }

  /// Keeps the selected store in sight when others have come, gone or changed places.
  package mutating func adjust(_ entries: [TopModel.Entry], height: Int) {
    if let index = entries.firstIndex(where: { $0.row.id == self.selected }), self.order == .path {
      self.scroll(to: index, count: entries.count, height)
    }
    self.top = max(min(self.top, entries.count - height), 0)
  }

  private mutating func scroll(to index: Int, count: Int, _ height: Int) {
    if index < self.top { self.top = index }
    if index >= self.top + height { self.top = index - height + 1 }
  }

  private static let keys = [
    "↑ ↓  j k    select a store             p   sort by path",
    "Page Up, Page Down, Home, End          r   sort by runs per second",
    "Enter  x    explain the store          e   sort by errors",
    "i           invalidate it              a   sort by age",
    "f           fetch it                   /   filter; Esc ends it",
    "q           quit",
    "",
    "i and f need a program whose Devtools allow actions.",
  ]
}
