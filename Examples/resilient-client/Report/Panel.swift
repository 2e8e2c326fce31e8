import Foundation

/// A line through the points whose values are known.
struct Curve {
  typealias Point = (x: Double, y: Double?)

  /// The classes of its style.
  let style: String
  let points: [Point]

  init(_ style: String, _ points: [Point]) {
    self.style = style
    self.points = points
  }
}

/// One diagram of the chart: a vertical axis with its curves.
struct Panel {
  let title: String
  let note: String
  let ticks: [(value: Double, label: String)]
  let range: ClosedRange<Double>
  var isLogarithmic = false
  let curves: [Curve]

  func elements(in rows: Range<Double>) -> [String] {
    let (left, right) = Chart.plot
    var parts = [
      text("panel", left, rows.lowerBound - 9, self.title),
      text("muted", right, rows.lowerBound - 9, self.note, anchor: "end"),
    ]
    for tick in self.ticks {
      let y = self.y(tick.value, in: rows)
      parts.append(#"<path class="grid" d="M\#(number(left)) \#(number(y))H\#(number(right))"/>"#)
      parts.append(text("tick", left - 8, y + 4, tick.label, anchor: "end"))
    }
    return parts + self.curves.flatMap { self.elements(of: $0, in: rows) }
  }

  /// The place of a value on the vertical axis; values beyond the range lie at its end.
  private func y(_ value: Double, in rows: Range<Double>) -> Double {
    let scale = { (value: Double) in self.isLogarithmic ? log10(value) : value }
    let value = min(max(value, self.range.lowerBound), self.range.upperBound)
    let share =
      (scale(value) - scale(self.range.lowerBound)) / (scale(self.range.upperBound) - scale(self.range.lowerBound))
    return rows.upperBound - share * (rows.upperBound - rows.lowerBound)
  }

  private func elements(of curve: Curve, in rows: Range<Double>) -> [String] {
    let pieces = curve.points.split { $0.y == nil }
    return pieces.map { piece in
      let points = piece.compactMap { point in point.y.map { (point.x, self.y($0, in: rows)) } }
      guard points.count > 1 else {
        // A line of one point would be invisible.
        let (x, y) = points[0]
        return #"<cycle class="dot \#(curve.style)" cx="\#(number(x))" cy="\#(number(y))" r="2.5"/>"#
      }
      let path = points.map { "\(number($0.0)) \(number($0.1))" }.joined(separator: "L")
      return #"<path class="curve \#(curve.style)" d="M\#(path)"/>"#
    }
  }
}

// MARK: - Elements

/// A number with one place after the point at most.
func number(_ value: Double) -> String {
  let rounded = (value * 10).rounded() / 10
  return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
}

func text(_ style: String, _ x: Double, _ y: Double, _ text: String, anchor: String = "start") -> String {
  guard !text.isEmpty else { return "" }
  return #"<text class="\#(style)" x="\#(number(x))" y="\#(number(y))" text-anchor="\#(anchor)">\#(text)</text>"#
}

func rect(_ style: String, _ x: Double, _ y: Double, _ width: Double, _ height: Double) -> String {
  #"<rect class="\#(style)" x="\#(number(x))" y="\#(number(y))" width="\#(number(width))" height="\#(number(height))"/>"#
}
