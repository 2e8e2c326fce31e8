/// What is known of the stores of a program.
package struct TopModel: Sendable {
  /// A store, and when its last runs have begun.
  package struct Entry: Sendable {
    package var row: TopMessage.Row
    var starts: [Double] = []

    /// The path as a person writes it.
    package var path: String { self.row.path.map(Self.unquoted).joined(separator: "/") }

    /// The runs per second of the last ten seconds.
    func rate(at now: Double) -> Double {
      let count = self.starts.count { $0 > now - 10 }
      // More runs than are kept: how close they are tells.
      if count == self.starts.count, count >= 32, let first = self.starts.first {
        return Double(count) / max(now - first, 0.001)
      }
      return Double(count) / 10
    }

    private static func unquoted(_ element: String) -> String {
      element.count > 1 && element.hasPrefix("\"") && element.hasSuffix("\"")
        ? String(element.dropFirst().dropLast()) : element
    }
  }

  /// The order of the stores.
  package enum Order: String, Sendable, CaseIterable {
    case path
    case rate
    case errors
    case age
  }

  package private(set) var program = ""
  package private(set) var allowsActions = false
  package private(set) var isReady = false
  package private(set) var now = 0.0
  package private(set) var dropped = 0
  private var entries: [Int: Entry] = [:]
  private var eventDates: [Double] = []

  package init() {}

  package mutating func apply(_ message: TopMessage) {
    if message.type == "hello" {
      self = TopModel()
      self.program = [message.program ?? "", message.process.map { "(\($0))" } ?? ""].joined(separator: " ")
      self.allowsActions = message.actions ?? false
    }
    self.now = max(self.now, message.date ?? 0)
    for row in message.stores ?? [] { self.entries[row.id, default: Entry(row: row)].row = row }
    for id in message.removed ?? [] { self.entries[id] = nil }
    for event in message.events ?? [] { self.note(event) }
    if let dropped = message.dropped { self.dropped = dropped }
    if message.ready == true { self.isReady = true }
  }

  private mutating func note(_ event: TopMessage.Event) {
    self.eventDates.append(event.date)
    if self.eventDates.count > 20_000 { self.eventDates.removeFirst(10_000) }
    guard event.kind == "run.began" else { return }
    self.entries[event.store]?.starts.append(event.date)
    if let count = self.entries[event.store]?.starts.count, count > 64 {
      self.entries[event.store]?.starts.removeFirst(32)
    }
  }

  /// Tells the time, between messages.
  package mutating func advance(to date: Double) { self.now = max(self.now, date) }

  package func entry(_ id: Int) -> Entry? { self.entries[id] }

  /// The events per second of the last two seconds.
  package var eventRate: Double { Double(self.eventDates.reversed().prefix { $0 > self.now - 2 }.count) / 2 }

  package var storeCount: Int { self.entries.count }

  /// The number of stores whose rows are of a kind.
  package func count(where isCounted: (TopMessage.Row) -> Bool) -> Int {
    self.entries.values.count { isCounted($0.row) }
  }

  /// The stores whose paths or operations contain all words of a filter, in an order.
  package func sorted(by order: Order, filter: String = "") -> [Entry] {
    let words = filter.lowercased().split(separator: " ")
    let found = self.entries.values.filter { entry in
      words.isEmpty || words.allSatisfy { "\(entry.path) \(entry.row.operation)".lowercased().contains($0) }
    }
    let keyed = found.map { (key: self.key(of: $0, order), path: $0.path, entry: $0) }
    return keyed.sorted { $0.key == $1.key ? Self.isBefore($0.path, $1.path) : $0.key > $1.key }.map(\.entry)
  }

  private func key(of entry: Entry, _ order: Order) -> Double {
    switch order {
    case .path: 0
    case .rate: entry.rate(at: self.now)
    case .errors: Double(entry.row.errors)
    case .age: entry.row.valueDate.map { self.now - $0 } ?? -1
    }
  }

  /// Compares numbers in paths as numbers: `posts/9` is before `posts/10`.
  static func isBefore(_ left: String, _ right: String) -> Bool {
    var (left, right) = (left[...], right[...])
    while let a = left.first, let b = right.first {
      if a.isASCII, b.isASCII, a.isNumber, b.isNumber {
        let (m, n) = (left.prefix { $0.isASCII && $0.isNumber }, right.prefix { $0.isASCII && $0.isNumber })
        let (x, y) = (m.drop { $0 == "0" }, n.drop { $0 == "0" })
        if x != y { return x.count == y.count ? x < y : x.count < y.count }
        (left, right) = (left[m.endIndex...], right[n.endIndex...])
      } else if a != b {
        return a < b
      } else {
        (left, right) = (left.dropFirst(), right.dropFirst())
      }
    }
    return left.isEmpty && !right.isEmpty
  }
}
