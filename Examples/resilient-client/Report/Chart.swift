import PostService

/// The curves as an SVG: answers in time, latency, and requests at the server, over the time since the start.
struct Chart {
  let bare: Recording
  let resilient: Recording

  static let width = 960.0
  static let plot = (left: 84.0, right: 936.0)
  private static let panelHeight = 150.0
  /// The period of one point, in seconds.
  private static let step = 0.5

  var svg: String {
    let panels = [self.success, self.latency, self.requests]
    var (top, parts) = (146.0, [String]())
    let (first, last) = (top, top + Double(panels.count) * (Self.panelHeight + 44) - 44)
    parts += Self.phases(from: first, to: last)
    for panel in panels {
      parts += panel.elements(in: top..<(top + Self.panelHeight))
      top += Self.panelHeight + 44
    }
    parts += Self.timeAxis(at: last)
    let height = Int(last + 56)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(Int(Self.width))" height="\(height)" \
      viewBox="0 0 \(Int(Self.width)) \(height)" role="img" \
      aria-label="Answers, latency and requests over time, with a bare client and with everything on">
      <style>
      \(ChartStyle.css)
      </style>
      <rect class="paper" width="\(Int(Self.width))" height="\(height)" rx="8"/>
      \((Self.heading + parts).joined(separator: "\n"))
      </svg>

      """
  }

  /// The place of a time on the horizontal axis.
  static func x(_ seconds: Double) -> Double {
    self.plot.left + seconds / Double(Phase.totalSeconds) * (self.plot.right - self.plot.left)
  }
}

// MARK: - Panels

extension Chart {
  private var success: Panel {
    Panel(
      title: "Calls answered within 1 s, in %",
      note: "dashed: by the server itself, without fallbacks",
      ticks: [0, 25, 50, 75, 100].map { ($0, "\(Int($0))") },
      range: 0...100,
      curves: [
        Curve("bare", self.points(of: self.bare) { $0.inTime.map { $0 * 100 } }),
        Curve("full dashed", self.points(of: self.resilient) { $0.fresh.map { $0 * 100 } }),
        Curve("full", self.points(of: self.resilient) { $0.inTime.map { $0 * 100 } }),
      ]
    )
  }

  private var latency: Panel {
    let value = { (quantile: Double) in
      { (recording: Recording) in recording.latency(quantile: quantile).map { max($0 / .milliseconds(1), 1) } }
    }
    return Panel(
      title: "Latency of the answers, in ms (logarithmic)",
      note: "p95; dashed: p50; a gap: no answers",
      ticks: [1, 10, 100, 1000, 10_000].map { ($0, "\(Int($0))") },
      range: 1...10_000,
      isLogarithmic: true,
      curves: [
        Curve("bare dashed", self.points(of: self.bare, value(0.5))),
        Curve("bare", self.points(of: self.bare, value(0.95))),
        Curve("full dashed", self.points(of: self.resilient, value(0.5))),
        Curve("full", self.points(of: self.resilient, value(0.95))),
      ]
    )
  }

  private var requests: Panel {
    let rate = { (recording: Recording) -> Double? in Double(recording.requests.count) / Self.step }
    let curves = [
      Curve("bare", self.points(of: self.bare, rate)), Curve("full", self.points(of: self.resilient, rate)),
    ]
    let most = curves.flatMap(\.points).compactMap(\.y).max() ?? 0
    let top = max(80, (most / 20).rounded(.up) * 20)
    return Panel(
      title: "Requests that reach the server, per s",
      note: "",
      ticks: stride(from: 0, through: top, by: top > 120 ? 40 : 20).map { ($0, "\(Int($0))") },
      range: 0...top,
      curves: curves
    )
  }

  private func points(of recording: Recording, _ value: (Recording) -> Double?) -> [Curve.Point] {
    stride(from: 0, to: Double(Phase.totalSeconds), by: Self.step).map { time in
      (x: Self.x(time + Self.step / 2), y: value(recording[.seconds(time)..<(.seconds(time + Self.step))]))
    }
  }
}

// MARK: - What all panels share

extension Chart {
  private static var heading: [String] {
    [
      #"<text class="title" x="24" y="36">A server that is slow, overloaded and down</text>"#,
      """
      <text class="muted" x="24" y="58">\(Scenario.callsPerSecond) calls a second to each client; each client has a \
      server of its own. A point stands for half a second.</text>
      """,
      #"<path class="curve bare" d="M24 82h28"/><text x="60" y="86">a bare client</text>"#,
      #"<path class="curve full" d="M172 82h28"/><text x="208" y="86">"#
        + "timeout, hedging, breaker, limit, retry with budget, deadline, fallback and deduplication</text>",
    ]
  }

  private static func phases(from top: Double, to bottom: Double) -> [String] {
    Phase.allCases.flatMap { phase in
      let (left, right) = (self.x(Double(phase.range.lowerBound)), self.x(Double(phase.range.upperBound)))
      return [
        rect("phase \(phase.rawValue)", left, top - 28, right - left, bottom - top + 28),
        text("phase-name", (left + right) / 2, top - 34, phase.rawValue, anchor: "middle"),
      ]
    }
  }

  private static func timeAxis(at bottom: Double) -> [String] {
    let labels = stride(from: 0, through: Phase.totalSeconds, by: 1).map { second in
      text("tick", self.x(Double(second)), bottom + 18, "\(second)", anchor: "middle")
    }
    return labels + [
      text("muted", (self.plot.left + self.plot.right) / 2, bottom + 40, "time since the start, in s", anchor: "middle")
    ]
  }
}
