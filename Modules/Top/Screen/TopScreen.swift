/// Draws stores as lines of a terminal.
package struct TopScreen: Sendable {
  /// A line and how it stands out.
  package struct Line: Hashable, Sendable {
    package enum Style: Hashable, Sendable {
      case plain
      case bold
      case inverse
      case faint
      case good
      case busy
      case waiting
      case bad
    }

    /// Without what a terminal would obey.
    package let text: String
    package let style: Style

    package init(_ text: String, _ style: Style = .plain) {
      self.text = text.withoutControls
      self.style = style
    }
  }

  package let width: Int
  package let height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The number of stores that have room below the two lines of the head and above the last line.
  package var listHeight: Int { max(self.height - 4, 1) }

  /// The lines of the screen, as many as it has, none longer than it is wide.
  package func lines(_ model: TopModel, _ view: TopView, connection: String) -> [Line] {
    let entries = model.sorted(by: view.order, filter: view.filter)
    var lines = [
      Line(self.summary(model, connection), .bold), Line(self.state(view, entries.count, of: model), .faint),
    ]
    if let page = view.page {
      let wrapped = page.flatMap { self.wrapped($0.withoutControls) }
      lines += wrapped.dropFirst(view.pageTop).prefix(max(self.height - 3, 0)).map { Line($0) }
    } else {
      lines.append(Line(self.row(Self.titles), .inverse))
      for entry in entries.dropFirst(view.top).prefix(self.listHeight) {
        let isSelected = entry.row.id == view.selected
        lines.append(
          Line(self.row(self.cells(entry, model.now)), isSelected ? .inverse : Self.style(entry.row, model.now))
        )
      }
      if entries.isEmpty { lines.append(Line(model.isReady ? "no store" : "waiting for the program", .faint)) }
    }
    lines = Array(lines.prefix(max(self.height - 1, 0)))
    lines += Array(repeating: Line(""), count: max(self.height - 1 - lines.count, 0))
    lines.append(Line(self.foot(view), .faint))
    return lines.map { Line(self.cut($0.text), $0.style) }
  }

  /// The stores as lines of a text, for a file or a pipe.
  package func plainLines(_ model: TopModel, _ view: TopView) -> [String] {
    let entries = model.sorted(by: view.order, filter: view.filter)
    let head = [self.summary(model, "").withoutControls, self.row(Self.titles)]
    return head + entries.map { self.row(self.cells($0, model.now)) }
  }

  private func summary(_ model: TopModel, _ connection: String) -> String {
    let parts = [
      model.program, connection, "\(model.storeCount) stores", "\(model.count { $0.status == "loading" }) running",
      "\(model.count { $0.paused == true }) paused", "\(model.count { $0.status == "failure" }) failing",
      "\(Int(model.eventRate.rounded())) events/s", model.dropped > 0 ? "\(model.dropped) missed" : "",
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: "  ")
  }

  private func state(_ view: TopView, _ count: Int, of model: TopModel) -> String {
    let filter =
      view.filter.isEmpty && !view.isFiltering
      ? "" : "  filter: \(view.filter)\(view.isFiltering ? "█" : "") (\(count))"
    return "sorted by \(view.order.rawValue)\(filter)"
  }

  private func foot(_ view: TopView) -> String {
    if !view.message.isEmpty { return view.message }
    if view.isFiltering { return "Enter keeps the filter, Esc ends it" }
    return view.page == nil
      ? "q quit  / filter  p r e a sort  Enter explain  i invalidate  f fetch  ? keys" : "↑ ↓ move, any other key: back"
  }

  // MARK: - Rows

  private static let titles = ["PATH", "STATE", "RUNS/S", "ERRORS", "READERS", "AGE"]

  private func cells(_ entry: TopModel.Entry, _ now: Double) -> [String] {
    let rate = entry.rate(at: now)
    return [
      entry.path, Self.word(entry.row, now), rate > 0 ? Self.decimal(rate) : "",
      entry.row.errors > 0 ? "\(entry.row.errors)" : "",
      entry.row.subscribers > 0 ? "\(entry.row.subscribers)" : "", entry.row.valueDate.map { Self.age(now - $0) } ?? "",
    ]
  }

  /// A row: the path takes what the other columns leave, and loses its beginning if that is too little.
  private func row(_ cells: [String]) -> String {
    let cells = cells.map(\.withoutControls)
    let widths = self.width < 60 ? [0, 12, 0, 0, 0, 6] : [0, 14, 7, 7, 8, 7]
    let rest = widths.reduce(0, +)
    let room = max(self.width - rest - 1, 8)
    var text = Self.padded(cells[0].count > room ? "…\(cells[0].suffix(room - 1))" : cells[0], room) + " "
    text += Self.padded(String(cells[1].prefix(widths[1] - 1)), widths[1])
    for (cell, width) in zip(cells.dropFirst(2), widths.dropFirst(2)) where width > 0 {
      text += String(repeating: " ", count: max(width - cell.count, 0)) + cell
    }
    return text
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(width - text.count, 0))
  }

  private func cut(_ text: String) -> String {
    text.count > self.width ? "\(text.prefix(max(self.width - 1, 0)))…" : text
  }

  /// A text in lines of the width of the screen, broken between words.
  private func wrapped(_ text: String) -> [String] {
    let indentation = String(text.prefix { $0 == " " })
    var (lines, line): ([String], String) = ([], indentation)
    for word in text.split(separator: " ") {
      if line.count + word.count + 1 > self.width, line.count > indentation.count {
        lines.append(line)
        line = indentation + "  "
      }
      line += line.allSatisfy { $0 == " " } ? String(word) : " \(word)"
    }
    return lines + [line]
  }

  // MARK: - Words

  static func word(_ row: TopMessage.Row, _ now: Double) -> String {
    if row.paused == true { return "paused" }
    switch row.status {
    case "loading":
      if let next = row.nextAttempt, next > now { return "retry in \(Self.age(next - now))" }
      return row.attempt.map { $0 > 1 ? "attempt \($0)" : "running" } ?? "running"
    case "failure": return "failed"
    case "restoring": return "restoring"
    case "idle": return "never run"
    default:
      if row.canBeStale != true { return "done" }
      return Self.isStale(row, now) ? "stale" : "fresh"
    }
  }

  private static func isStale(_ row: TopMessage.Row, _ now: Double) -> Bool {
    row.stale == true || row.freshUntil.map { $0 <= now } == true
  }

  private static func style(_ row: TopMessage.Row, _ now: Double) -> Line.Style {
    switch self.word(row, now) {
    case "paused": .waiting
    case "failed": .bad
    case "fresh", "done": .good
    case "stale", "never run": .plain
    case let word where word.hasPrefix("retry"): .waiting
    default: .busy
    }
  }

  static func age(_ seconds: Double) -> String {
    switch seconds {
    case ..<1: "<1s"
    case ..<60: "\(Int(seconds))s"
    case ..<3600: "\(Int(seconds / 60))m"
    case ..<86_400: "\(Int(seconds / 3600))h"
    default: "\(Int(min(seconds, 1e9) / 86_400))d"
    }
  }

  /// With one digit behind the point.
  private static func decimal(_ number: Double) -> String {
    let tenths = Int((min(number, 1e6) * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
