/// One line of the report.
struct Row: Codable, Sendable {
  enum Unit: String, Codable {
    /// Awaits of an async function that does nothing.
    case awaits = "A"
    case times = "×"
    case bytes = "B"
    case percent = "%"
    case count = ""
  }

  enum Limit: Codable, Equatable {
    case atMost(Double)
    case atLeast(Double)

    func holds(for value: Double) -> Bool {
      switch self {
      case .atMost(let limit): value <= limit
      case .atLeast(let limit): value >= limit
      }
    }
  }

  enum Verdict: String, Codable {
    case pass
    case miss
    /// There is no bar.
    case none = ""
  }

  var section: String
  var name: String
  var value: Double
  var unit: Unit
  /// Where the middle half of the samples lies; nil where there is a single value.
  var spread: Distribution?
  /// Allocations for each time; nil where they cannot be counted or do not matter.
  var allocations: Double?
  /// What the value should be.
  var bar: Limit?
  /// What the value has to be also on a busy machine.
  var gate: Limit?
  var note: String?
}

extension Row {
  /// A cost in A.
  init(_ section: String, _ name: String, _ timing: Timing, bar: Double? = nil, note: String? = nil) {
    self.init(
      section: section,
      name: name,
      value: timing.cost.median,
      unit: .awaits,
      spread: timing.cost,
      allocations: timing.allocations,
      bar: bar.map { .atMost($0) },
      note: note
    )
  }

  /// How much the highest of costs that should be equal exceeds the lowest.
  static func growth(_ section: String, _ name: String, of timings: [Timing], bar: Double, gate: Double) -> Row {
    let costs = timings.map(\.cost.median)
    return Row(
      section: section,
      name: name,
      value: (costs.max() ?? .nan) / (costs.min() ?? .nan),
      unit: .times,
      bar: .atMost(bar),
      gate: .atMost(gate)
    )
  }

  /// A number that is the same on every machine, so that its bar holds there too.
  static func number(
    _ section: String,
    _ name: String,
    _ value: Double,
    _ unit: Unit = .count,
    bar: Double? = nil,
    gate: Double? = nil,
    note: String? = nil
  ) -> Row {
    Row(
      section: section,
      name: name,
      value: value,
      unit: unit,
      bar: bar.map { .atMost($0) },
      gate: (gate ?? bar).map { .atMost($0) },
      note: note
    )
  }
}

extension Row {
  /// What counts: the bar on a machine that has nothing else to do, the gate on any.
  func limit(isShort: Bool) -> Limit? { isShort ? self.gate : self.bar }

  func verdict(isShort: Bool) -> Verdict {
    guard let limit = self.limit(isShort: isShort) else { return .none }
    return limit.holds(for: self.value) ? .pass : .miss
  }
}
