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
  /// Where the middle half of the samples lies; nil where there is a single value.
  var spread: Distribution?
  /// Allocations for each time; nil where they cannot be counted or do not matter.
  var allocations: Double?
  /// What the value should be on a machine that has nothing else to do.
  var bar: Limit?
  /// What the value has to be on any machine: the short form checks nothing else.
  var gate: Limit?
  /// Whether the value is as it should be; nil where nothing says how.
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

  /// How many allocations something of which the cost is known makes; no row where they cannot be counted.
  ///
  /// The gate is what it takes today, where that is more than the bar: the short form judges by it.
  static func allocations(
    of timing: Timing,
    _ section: String,
    _ name: String,
    bar: Double,
    gate: Double? = nil
  ) -> [Row] {
    // In tenths: a block that another thread has taken meanwhile does not count.
    timing.allocations.map { allocations in
      [.number(section, "allocations of \(name)", (allocations * 10).rounded() / 10, bar: bar, gate: gate)]
    } ?? []
  }

  /// By how much the highest of costs that should be equal exceeds the lowest. The fastest samples are compared, as what else
  /// the machine does only adds time.
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
      bar: bar.map { Limit(.atMost, $0) },
      gate: (gate ?? bar).map { Limit(.atMost, $0) },
      note: note
    )
  }
}

extension Row {
  /// What counts in the form of the report.
  func limit(isShort: Bool) -> Limit? { isShort ? self.gate : self.bar }

  func judged(isShort: Bool) -> Row {
    var row = self
    row.isMet = self.limit(isShort: isShort)?.holds(for: self.value)
    return row
  }
}
