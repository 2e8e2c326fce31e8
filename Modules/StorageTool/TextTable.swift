#if SwiftOperationSQLite
  /// A table with columns that are as wide as their longest cells.
  struct TextTable {
    let lines: [String]

    init(_ titles: [String], _ rows: [[String]]) {
      let rows = [titles] + rows.map { $0.map(Self.printable) }
      let widths = titles.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
      self.lines = rows.map { row in
        let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
        return String(cells.reversed().drop { $0 == " " }.reversed())
      }
    }

    var text: String { self.lines.map { $0 + "\n" }.joined() }

    /// A text without characters that would control a terminal: names and values may come from anywhere.
    static func printable(_ text: String) -> String {
      String(
        String.UnicodeScalarView(
          text.unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: "\u{FFFD}"
            default: scalar
            }
          }
        )
      )
    }

    static func size(_ bytes: Int) -> String {
      if bytes < 1_000 { return "\(bytes) B" }
      for (unit, name) in [(1_000_000_000, "GB"), (1_000_000, "MB")] where bytes >= unit {
        return Self.tenths(bytes, unit) + " " + name
      }
      return Self.tenths(bytes, 1_000) + " kB"
    }

    private static func tenths(_ bytes: Int, _ unit: Int) -> String {
      "\(bytes / unit).\(bytes % unit * 10 / unit)"
    }
  }
#endif
