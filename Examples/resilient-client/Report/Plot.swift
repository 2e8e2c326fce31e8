import Charts
import PostService

/// The curves: answers in time, latency, and requests at the server, over the time since the start.
struct Plot {
  let bare: Recording
  let resilient: Recording

  /// The period of one point, in seconds.
  private static let step = 0.5

  var chart: Chart {
    Chart(
      title: "A server that is slow, overloaded and down",
      note: """
        \(Scenario.callsPerSecond) calls a second to each client; each client has a server of its own. A point stands \
        for half a second.
        """,
      label: "Answers, latency and requests over time, with a bare client and with everything on",
      keys: [
        Chart.Key("bare", "a bare client"),
        Chart.Key(
          "full",
          "timeout, hedging, breaker, limit, retry with budget, deadline, fallback and deduplication"
        ),
      ],
      bands: Phase.allCases.map { Chart.Band($0.style, $0.rawValue, $0.range) },
      panels: [self.success, self.latency, self.requests]
    )
  }
}

// MARK: - Panels

extension Plot {
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
    let most = curves.flatMap(\.points).compactMap(\.value).max() ?? 0
    let top = max(80, (most / 20).rounded(.up) * 20)
    return Panel(
      title: "Requests that reach the server, per s",
      ticks: stride(from: 0, through: top, by: top > 120 ? 40 : 20).map { ($0, "\(Int($0))") },
      range: 0...top,
      curves: curves
    )
  }

  private func points(of recording: Recording, _ value: (Recording) -> Double?) -> [Curve.Point] {
    stride(from: 0, to: Double(Phase.totalSeconds), by: Self.step).map { time in
      (time: time + Self.step / 2, value: value(recording[.seconds(time)..<(.seconds(time + Self.step))]))
    }
  }
}

extension Phase {
  /// The class of its style in the chart.
  fileprivate var style: String {
    switch self {
    case .healthy, .recovered: "good"
    case .slow, .overloaded, .down: self.rawValue
    }
  }
}
