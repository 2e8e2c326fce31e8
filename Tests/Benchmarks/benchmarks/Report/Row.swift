/// One line of the report.
struct Row: Codable, Sendable {
  enum Unit: String, Codable {
    /// Awaits of an async function that does nothing.
    case awaits = "A"
    case times = "×"
    case microseconds = "µs"
    case bytes = "B"
    case percent = "%"
    case count = ""
  }

  struct Limit: Codable {
    enum Relation: String, Codable {
      case atMost
      case atLeast
    }

    var relation: Relation
    var value: Double

    init(_ relation: Relation, _ value: Double) {
      self.relation = relation
      self.value = value
    }

    func holds(for value: Double) -> Bool {
      switch self.relation {
      case .atMost: value <= self.value
      case .atLeast: value >= self.value
      }
    }
  }

  var section: String
  var name: String
  var value: Double
  var unit: Unit
  /// The distribution of the samples; nil for a single value.
  var spread: Distribution?
  /// The allocations of one repetition; nil if they cannot be counted or do not matter.
  var allocations: Double?
  /// The limit on a machine without other work.
  var bar: Limit?
  /// The limit on any machine, which the short form checks.
  var gate: Limit?
  /// Whether the value keeps its limit; nil if there is none.
  var isMet: Bool?
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
      bar: bar.map { Limit(.atMost, $0) },
      note: note
    )
  }

  /// The allocations of a timing; no row if they cannot be counted.
  ///
  /// The gate, which the short form checks, is the present number if that is more than the bar.
  static func allocations(
    of timing: Timing,
    _ section: String,
    _ name: String,
    bar: Double,
    gate: Double? = nil
  ) -> [Row] {
    // Rounded to tenths: a block that another thread has allocated meanwhile does not count.
    timing.allocations.map { allocations in
      [.number(section, "allocations of \(name)", (allocations * 10).rounded() / 10, bar: bar, gate: gate)]
    } ?? []
  }

  /// The ratio of the highest to the lowest of costs that should be equal. The fastest samples are compared, because
  /// other work of the machine only adds time.
  static func growth(
    _ section: String,
    _ name: String = "growth",
    of timings: [Timing],
    bar: Double? = nil,
    gate: Double? = nil
  ) -> Row {
    let costs = timings.map(\.fastest)
    return Row(
      section: section,
      name: name,
      value: (costs.max() ?? .nan) / (costs.min() ?? .nan),
      unit: .times,
      bar: bar.map { Limit(.atMost, $0) },
      gate: gate.map { Limit(.atMost, $0) }
    )
  }

  /// A number that is the same on each machine, so that the short form checks its bar too.
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
      bar: bar.map { Limit(.atMost, $0) },
      gate: (gate ?? bar).map { Limit(.atMost, $0) },
      note: note
    )
  }
}

extension Row {
  /// Returns the limit for the form of the report.
  func limit(isShort: Bool) -> Limit? { isShort ? self.gate : self.bar }

  func judged(isShort: Bool) -> Row {
    var row = self
    row.isMet = self.limit(isShort: isShort)?.holds(for: self.value)
    return row
  }
}
