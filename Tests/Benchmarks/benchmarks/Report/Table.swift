internal import Foundation

/// The report as an aligned table.
struct Table {
  let report: Report

  var text: String {
    let header = ["measure", "result", "middle half", "bar", "", "allocations"]
    var lines = [header]
    var section: String?
    for row in self.report.rows {
      if row.section != section { lines.append([row.section]) }
      section = row.section
      lines.append(self.cells(of: row))
    }
    let widths = header.indices.map { column in
      lines.filter { $0.count > 1 }.map { $0[column].count }.max() ?? 0
    }
    let body = lines.map { cells in
      guard cells.count > 1 else { return cells[0] }
      return zip(cells, widths).enumerated().map { column, cell in
        cell.0.padded(to: cell.1, atEnd: column == 0 || column == 4)
      }.joined(separator: "  ").trimmingSuffix()
    }
    return ([self.heading] + body).joined(separator: "\n")
  }

  private var heading: String {
    let baseline = self.report.baseline
    return """
      \(self.report.date.formatted(.iso8601)), \(self.report.toolchain)
      \(self.report.machine.processor), \(self.report.machine.cores) cores, \(self.report.machine.system)
      1 A = \(baseline.median.short) ns (\(baseline.lowerQuartile.short)–\(baseline.upperQuartile.short)), \
      \(Allocated.isCountable ? "allocations counted" : "allocations cannot be counted here")

      """
  }

  private func cells(of row: Row) -> [String] {
    let unit = row.unit.rawValue.isEmpty ? "" : " \(row.unit.rawValue)"
    return [
      "  " + row.name + (row.note.map { " (\($0))" } ?? ""),
      row.value.short + unit,
      row.spread.map { "\($0.lowerQuartile.short)–\($0.upperQuartile.short)" } ?? "",
      row.limit(isShort: self.report.isShort)?.text ?? "",
      row.isMet.map { $0 ? "pass" : "miss" } ?? "",
      row.allocations.map(\.short) ?? "",
    ]
  }
}

extension Row.Limit {
  fileprivate var text: String {
    switch self.relation {
    case .atMost: "≤ \(self.value.short)"
    case .atLeast: "≥ \(self.value.short)"
    }
  }
}

extension String {
  fileprivate func padded(to width: Int, atEnd: Bool) -> String {
    let padding = String(repeating: " ", count: max(0, width - self.count))
    return atEnd ? self + padding : padding + self
  }

  fileprivate func trimmingSuffix() -> String {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}

extension Double {
  /// At least three digits, and all digits before the point.
  fileprivate var short: String {
    guard self.isFinite else { return "–" }
    guard abs(self) >= 0.005 else { return "0" }
    if self == self.rounded() || abs(self) >= 1000 { return Int(self.rounded()).grouped }
    return String(format: abs(self) >= 100 ? "%.0f" : abs(self) >= 10 ? "%.1f" : "%.2f", self)
  }
}

extension Int {
  /// With commas between thousands.
  var grouped: String {
    var digits = Array(String(self.magnitude))
    var index = digits.count - 3
    while index > 0 {
      digits.insert(",", at: index)
      index -= 3
    }
    return (self < 0 ? "-" : "") + String(digits)
  }
}
