import PostService

/// A line of numbers for each phase.
struct Table: CustomStringConvertible {
  let bare: Recording
  let resilient: Recording

  private static let widths = [14, 6, 8, 8, 10, 10, 10, 10, 8, 8]

  var description: String {
    let heads = [
      ["", "", "in time", "", "p50", "", "p95", "", "requests", ""],
      ["phase", "calls", "bare", "all on", "bare", "all on", "bare", "all on", "bare", "all on"],
    ]
    let rows = Phase.allCases.map { phase in
      let (bare, resilient) = (self.bare[phase], self.resilient[phase])
      return [
        "\(phase.rawValue) \(phase.range.lowerBound)-\(phase.range.upperBound) s",
        "\(bare.calls.count)",
        percent(bare.inTime), percent(resilient.inTime),
        milliseconds(bare.latency(quantile: 0.5)), milliseconds(resilient.latency(quantile: 0.5)),
        milliseconds(bare.latency(quantile: 0.95)), milliseconds(resilient.latency(quantile: 0.95)),
        "\(bare.requests.count)", "\(resilient.requests.count)",
      ]
    }
    return (heads + rows).map(self.line).joined(separator: "\n")
  }

  private func line(_ cells: [String]) -> String {
    zip(cells, Self.widths).enumerated()
      .map { index, cell in cell.0.padding(to: cell.1 + (index == 0 ? 2 : 0), alignment: index == 0 ? .left : .right) }
      .joined(separator: " ")
  }
}

func percent(_ share: Double?) -> String { share.map { "\(Int(($0 * 100).rounded())) %" } ?? "-" }

func milliseconds(_ duration: Duration?) -> String { duration.map { "\($0.milliseconds) ms" } ?? "-" }
