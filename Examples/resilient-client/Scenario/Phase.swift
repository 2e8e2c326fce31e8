import PostService

/// The phases of the server, one after the other.
enum Phase: String, CaseIterable, Sendable {
  case healthy, slow, overloaded, down, recovered

  /// How long it takes, in whole seconds.
  var seconds: Int {
    switch self {
    case .healthy: 2
    case .slow, .overloaded, .down, .recovered: 3
    }
  }

  var condition: ServerCondition {
    switch self {
    case .healthy, .recovered: ServerCondition(latency: .milliseconds(20))
    // A few answers of many are late.
    case .slow: ServerCondition(latency: .milliseconds(20), slowEvery: 8, slowLatency: .milliseconds(1500))
    // It can do 25 requests a second, and gets more than twice as many.
    case .overloaded: ServerCondition(latency: .milliseconds(20), work: .milliseconds(40))
    case .down: ServerCondition(latency: .milliseconds(5), fault: .unavailable)
    }
  }
}

extension Phase {
  /// When it begins and ends, in seconds since the start.
  var range: Range<Int> {
    let start = Self.allCases.prefix { $0 != self }.reduce(0) { $0 + $1.seconds }
    return start..<(start + self.seconds)
  }

  static var totalSeconds: Int { Self.allCases.reduce(0) { $0 + $1.seconds } }
}
