/// The phases of the load, one after the other.
enum Phase: String, CaseIterable, Sendable {
  /// Eight tenants ask for 40 % of what the upstream can do.
  case quiet
  /// One of them asks for so much that all together ask for twice of what the upstream can do.
  case greedy
  case calm
  /// The upstream takes three times as long.
  case slow
  /// Two of the four shards of the upstream refuse all requests.
  case failing
  case recovered

  /// How long it takes, in whole seconds.
  var seconds: Int {
    switch self {
    case .quiet: 8
    case .greedy: 12
    case .calm: 4
    case .slow, .failing, .recovered: 6
    }
  }

  /// How much longer than usual the upstream takes for a request that begins in the phase.
  var slowness: Double { self == .slow ? 3 : 1 }

  /// The shards of the upstream that refuse requests in the phase.
  var failingShards: Set<Int> { self == .failing ? [1, 3] : [] }
}

extension Phase {
  /// When it begins and ends, in seconds since the start.
  var range: Range<Int> {
    let start = Self.allCases.prefix { $0 != self }.reduce(0) { $0 + $1.seconds }
    return start..<(start + self.seconds)
  }

  static var totalSeconds: Int { Self.allCases.reduce(0) { $0 + $1.seconds } }

  /// The phase of a time since the start; the last one after its end.
  static func at(_ time: Duration) -> Phase {
    self.allCases.first { time < .seconds($0.range.upperBound) } ?? .recovered
  }
}
