import Charts

/// The curves: goodput, latency, requests at the upstream and rejections, over the time since the start.
struct Plot {
  let bare: Recording
  let hand: Recording
  let full: Recording

  /// The period of one point, in seconds.
  private static let step = 0.5

  var chart: Chart {
    Chart(
      title: "A greedy tenant, and an upstream that slows, fails in parts and recovers",
      note: """
        The same requests to each service, which come by a schedule whether or not earlier ones were answered. A point \
        stands for half a second.
        """,
      label: "Goodput, latency, requests at the upstream and rejections over time, for three services",
      keys: [
        Chart.Key("bare", "without modifiers"),
        Chart.Key("hand", "by hand: a cache, a timeout, retries"),
        Chart.Key("full", "deadlines, budget, limit by tenant, breakers"),
      ],
      bands: Phase.allCases.map { Chart.Band($0.style, $0.rawValue, $0.range) },
      step: 2,
      panels: [self.goodput, self.latency, self.requests, self.rejections]
    )
  }
}

// MARK: - Panels

extension Plot {
  private var goodput: Panel {
    Panel(
      title: "Goodput: requests answered within 2 s, per s",
      note: "dashed: what the upstream can do",
      ticks: [0, 25, 50, 75, 100, 125].map { ($0, "\(Int($0))") },
      range: 0...125,
      curves: [Curve("dashed capacity", self.points(of: self.full) { _ in Upstream.capacityPerSecond })]
        + self.curves { $0.uncached.goodput }
    )
  }

  private var latency: Panel {
    Panel(
      title: "Latency of the answers to the seven other tenants, p99 in ms (logarithmic)",
      note: "from the intended start; a gap: no answers",
      ticks: [100, 1000, 10_000].map { ($0, "\(Int($0))") },
      range: 100...30_000,
      isLogarithmic: true,
      curves: self.curves { recording in
        recording.uncached.ofOthers.latency(quantile: 0.99).map { $0 / .milliseconds(1) }
      }
    )
  }

  private var requests: Panel {
    let curves = self.curves { Double($0.requests.count) / Self.step }
    let most = curves.flatMap(\.points).compactMap(\.value).max() ?? 0
    let top = max(200, (most / 200).rounded(.up) * 200)
    return Panel(
      title: "Requests that reach the upstream, per s",
      ticks: stride(from: 0, through: top, by: 200).map { ($0, "\(Int($0))") },
      range: 0...top,
      curves: curves
    )
  }

  private var rejections: Panel {
    let curve = { (style: String, part: @escaping (Recording) -> Recording) in
      Curve(style, self.points(of: self.full) { part($0).rejections })
    }
    return Panel(
      title: "Requests that the service with modifiers rejects, per s",
      note: "of the greedy tenant; dashed: of the seven others",
      ticks: [0, 50, 100, 150].map { ($0, "\(Int($0))") },
      range: 0...150,
      curves: [curve("full", { $0.of([Arrival.greedyTenant]) }), curve("full dashed", { $0.ofOthers })]
    )
  }

  private func curves(_ value: @escaping (Recording) -> Double?) -> [Curve] {
    [("bare", self.bare), ("hand", self.hand), ("full", self.full)].map { style, recording in
      Curve(style, self.points(of: recording, value))
    }
  }

  private func points(of recording: Recording, _ value: (Recording) -> Double?) -> [Curve.Point] {
    stride(from: 0, to: Double(Phase.totalSeconds), by: Self.step).map { time in
      (time: time + Self.step / 2, value: value(recording[time..<(time + Self.step)]))
    }
  }
}

extension Phase {
  /// The class of its style in the chart.
  fileprivate var style: String {
    switch self {
    case .quiet, .calm, .recovered: "good"
    case .greedy: "overloaded"
    case .slow: "slow"
    case .failing: "down"
    }
  }
}
