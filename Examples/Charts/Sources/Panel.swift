import Foundation

/// One diagram of a chart: a vertical axis with its curves.
public struct Panel {
  let title: String
  let note: String
  let ticks: [(value: Double, label: String)]
  let range: ClosedRange<Double>
  let isLogarithmic: Bool
  let curves: [Curve]

  public init(
    title: String,
    note: String = "",
    ticks: [(value: Double, label: String)],
    range: ClosedRange<Double>,
    isLogarithmic: Bool = false,
    curves: [Curve]
  ) {
    self.title = title
    self.note = note
    self.ticks = ticks
    self.range = range
    self.isLogarithmic = isLogarithmic
    self.curves = curves
  }

  func elements(in rows: Range<Double>, of axis: TimeAxis) -> [String] {
    var parts = [
      text("panel", axis.left, rows.lowerBound - 9, self.title),
      text("muted", axis.right, rows.lowerBound - 9, self.note, anchor: "end"),
    ]
    for tick in self.ticks {
      let y = self.y(tick.value, in: rows)
      parts.append(#"<path class="grid" d="M\#(number(axis.left)) \#(number(y))H\#(number(axis.right))"/>"#)
      parts.append(text("tick", axis.left - 8, y + 4, tick.label, anchor: "end"))
    }
    return parts + self.curves.flatMap { self.elements(of: $0, in: rows, axis) }
  }

  /// The place of a value on the vertical axis; values beyond the range lie at its end.
  private func y(_ value: Double, in rows: Range<Double>) -> Double {
    let scale = { (value: Double) in self.isLogarithmic ? log10(value) : value }
    let value = min(max(value, self.range.lowerBound), self.range.upperBound)
    let share =
      (scale(value) - scale(self.range.lowerBound)) / (scale(self.range.upperBound) - scale(self.range.lowerBound))
    return rows.upperBound - share * (rows.upperBound - rows.lowerBound)
  }

  private func elements(of curve: Curve, in rows: Range<Double>, _ axis: TimeAxis) -> [String] {
    let pieces = curve.points.split { $0.value == nil }
    return pieces.map { piece in
      let points = piece.compactMap { point in
        point.value.map { (x: axis.x(point.time), y: self.y($0, in: rows)) }
      }
      guard points.count > 1 else {
        // A line of one point would be invisible.
        return
          #"<circle class="dot \#(curve.style)" cx="\#(number(points[0].x))" cy="\#(number(points[0].y))" r="2.5"/>"#
      }
      let path = points.map { "\(number($0.x)) \(number($0.y))" }.joined(separator: "L")
      return #"<path class="curve \#(curve.style)" d="M\#(path)"/>"#
    }
  }
}
