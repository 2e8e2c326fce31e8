/// The numbers of the services: for each phase, and for each tenant while one of them is greedy.
struct Tables: CustomStringConvertible {
  let sides: [(name: String, recording: Recording)]

  var description: String { self.phases + "\n\n" + self.tenants }

  private var phases: String {
    let heads = [
      ["", "", "calls", "goodput", "p50", "p99", "p99.9", "rejected", "upstream", "front"],
      ["phase", "service", "per s", "per s", "ms", "ms", "ms", "per s", "per s", "page"],
    ]
    let rows = Phase.allCases.flatMap { phase in
      self.sides.map { name, recording in
        let (all, part) = (recording[phase], recording[phase].uncached)
        return [
          name == self.sides[0].name ? "\(phase.rawValue) \(phase.range.lowerBound)-\(phase.range.upperBound) s" : "",
          name, whole(part.perSecond(part.calls.count)), whole(part.goodput), milliseconds(part.latency(quantile: 0.5)),
          milliseconds(part.latency(quantile: 0.99)), milliseconds(part.latency(quantile: 0.999)),
          whole(part.rejections), whole(all.perSecond(all.requests.count)), percent(all.ofFrontPage.inTime),
        ]
      }
    }
    return Table(heads: heads, rows: rows, widths: [16, 10, 6, 8, 6, 6, 6, 9, 9, 7]).description
  }

  private var tenants: String {
    let heads = [
      ["while one is greedy", "service", "calls", "goodput", "p50", "p99", "p99.9", "rejected"],
      ["", "", "per s", "per s", "ms", "ms", "ms", "per s"],
    ]
    let rows = Arrival.tenants.flatMap { tenant in
      self.sides.map { name, recording in
        let part = recording[.greedy].uncached.of([tenant])
        let title = tenant == Arrival.greedyTenant ? "tenant \(tenant), greedy" : "tenant \(tenant)"
        return [
          name == self.sides[0].name ? title : "", name, whole(part.perSecond(part.calls.count)), whole(part.goodput),
          milliseconds(part.latency(quantile: 0.5)), milliseconds(part.latency(quantile: 0.99)),
          milliseconds(part.latency(quantile: 0.999)), whole(part.rejections),
        ]
      }
    }
    return Table(heads: heads, rows: rows, widths: [20, 10, 6, 8, 6, 6, 6, 9]).description
  }
}

/// Lines of cells, of which the first two are aligned on the left.
struct Table: CustomStringConvertible {
  let heads: [[String]]
  let rows: [[String]]
  let widths: [Int]

  var description: String { (self.heads + self.rows).map(self.line).joined(separator: "\n") }

  private func line(_ cells: [String]) -> String {
    zip(cells, self.widths).enumerated()
      .map { index, cell in
        let gap = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
        return index < 2 ? cell.0 + gap : gap + cell.0
      }
      .joined(separator: " ")
  }
}

func whole(_ number: Double) -> String { "\(Int(number.rounded()))" }

func percent(_ share: Double?) -> String { share.map { "\(Int(($0 * 100).rounded())) %" } ?? "-" }

func milliseconds(_ duration: Duration?) -> String {
  duration.map { "\(Int(($0 / .milliseconds(1)).rounded()))" } ?? "-"
}

func factor(_ ratio: Double?) -> String { ratio.map { "\(($0 * 100).rounded() / 100) times" } ?? "-" }
