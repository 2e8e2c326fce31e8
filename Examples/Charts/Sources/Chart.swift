/// Panels over one time axis, as an SVG.
public struct Chart {
  /// A time with a name, behind all panels.
  public struct Band {
    /// The class of its style: `good`, `slow`, `overloaded` or `down`.
    let style: String
    let name: String
    /// When it begins and ends, in whole seconds.
    let seconds: Range<Int>

    public init(_ style: String, _ name: String, _ seconds: Range<Int>) {
      self.style = style
      self.name = name
      self.seconds = seconds
    }
  }

  /// What a colour stands for.
  public struct Key {
    /// The class of its style: `bare`, `full` or `hand`.
    let style: String
    let label: String

    public init(_ style: String, _ label: String) {
      self.style = style
      self.label = label
    }
  }

  let title: String
  let note: String
  /// The chart in one sentence, for readers who do not see it.
  let label: String
  let keys: [Key]
  let bands: [Band]
  let panels: [Panel]
  private let axis: TimeAxis

  /// - Parameters:
  ///   - title: The title.
  ///   - note: A line under the title.
  ///   - label: The chart in one sentence, for readers who do not see it.
  ///   - keys: What the colours stand for.
  ///   - bands: The times with a name, one after the other.
  ///   - step: The distance of two labels of the time axis, in seconds.
  ///   - panels: The panels, from the top.
  public init(
    title: String,
    note: String,
    label: String,
    keys: [Key],
    bands: [Band],
    step: Int = 1,
    panels: [Panel]
  ) {
    self.title = title
    self.note = note
    self.label = label
    self.keys = keys
    self.bands = bands
    self.panels = panels
    self.axis = TimeAxis(seconds: bands.map(\.seconds.upperBound).max() ?? 1, step: step)
  }

  private static let width = 960
  private static let panelHeight = 150.0
  private static let gap = 44.0

  /// The file.
  public var svg: String {
    let first = 146.0
    let last = first + Double(self.panels.count) * (Self.panelHeight + Self.gap) - Self.gap
    var (top, parts) = (first, self.heading + self.background(from: first, to: last))
    for panel in self.panels {
      parts += panel.elements(in: top..<(top + Self.panelHeight), of: self.axis)
      top += Self.panelHeight + Self.gap
    }
    parts += self.axis.elements(at: last)
    let height = Int(last + 56)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.width)" height="\(height)" \
      viewBox="0 0 \(Self.width) \(height)" role="img" \
      aria-label="\(self.label)">
      <style>
      \(ChartStyle.css)
      </style>
      <rect class="paper" width="\(Self.width)" height="\(height)" rx="8"/>
      \(parts.joined(separator: "\n"))
      </svg>

      """
  }

  private var heading: [String] {
    var parts = [text("title", 24, 36, self.title), text("muted", 24, 58, self.note)]
    var x = 24.0
    for key in self.keys {
      parts.append(#"<path class="curve \#(key.style)" d="M\#(number(x)) 82h28"/>"#)
      parts.append(text("key", x + 36, 86, key.label))
      // A letter takes about seven points.
      x += 36 + Double(key.label.count) * 7 + 21
    }
    return parts
  }

  private func background(from top: Double, to bottom: Double) -> [String] {
    self.bands.flatMap { band in
      let (left, right) = (self.axis.x(Double(band.seconds.lowerBound)), self.axis.x(Double(band.seconds.upperBound)))
      return [
        rect("band \(band.style)", left, top - 28, right - left, bottom - top + 28),
        text("band-name", (left + right) / 2, top - 34, band.name, anchor: "middle"),
      ]
    }
  }
}
