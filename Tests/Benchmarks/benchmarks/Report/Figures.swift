internal import Foundation

extension Report {
  /// What documents quote: the machine, and each row with its value and its bar, in lines that read well in a diff.
  var figures: String {
    let facts = [
      "date | \(self.date.formatted(.iso8601.year().month().day()))",
      "Swift | \(self.toolchain.firstMatch(of: /\d+(\.\d+)+/)?.output.0 ?? "unknown")",
      "processor | \(self.machine.processor)",
      "cores | \(self.machine.cores)",
      "system | \(self.machine.system.prefixMatch(of: /\S+ \d+\.\d+/)?.output ?? self.machine.system[...])",
      "1 A | \(self.baseline.median.figure) ns",
    ]
    let rows = self.rows.map { row in
      let unit = row.unit.rawValue.isEmpty ? "" : " \(row.unit.rawValue)"
      let bar = row.bar.map { " | \($0.relation == .atMost ? "≤" : "≥") \($0.value.figure)" } ?? ""
      return "\(row.section): \(row.name) | \(row.value.figure)\(unit)\(bar)"
    }
    return (facts + rows).map { $0 + "\n" }.joined()
  }
}

extension Double {
  /// The number without separators, with more digits than documents show.
  fileprivate var figure: String {
    String(format: self == self.rounded() ? "%.0f" : abs(self) < 10 ? "%.3f" : "%.1f", self)
  }
}
