import Foundation

/// One request of the load.
struct Arrival: Sendable {
  /// A number that no other request has.
  let number: Int
  let tenant: Int
  /// When the request arrives, counted from the start. It does not wait for the answers of earlier requests, because many
  /// visitors send them.
  let time: Duration
  /// What it asks for: an article that nobody else asks for, or one of the front page.
  let article: Article

  var isOfFrontPage: Bool { self.article.isOfFrontPage }
}

struct Article: Hashable, Sendable {
  let number: Int
  let isOfFrontPage: Bool

  var text: String { "\(self.isOfFrontPage ? "Front page" : "Article") \(self.number)" }
}

// MARK: - The schedule

extension Arrival {
  static let tenants = 1...8
  /// The tenant that becomes greedy.
  static let greedyTenant = 8
  /// How long a visitor waits.
  static let patience = Duration.seconds(2)

  private static let usualPerSecond = 5.0
  private static let frontPagePerSecond = 10.0
  private static let frontPageCount = 8

  /// All requests, by time. They are the same in each run of the program.
  static func schedule() -> [Arrival] {
    var random = Random(seed: 34)
    var drafts: [(tenant: Int, time: Double, isOfFrontPage: Bool)] = []
    for phase in Phase.allCases {
      let range = Double(phase.range.lowerBound)..<Double(phase.range.upperBound)
      for tenant in self.tenants {
        let rate = Self.perSecond(of: tenant, in: phase)
        drafts += Self.times(rate, in: range, &random).map { (tenant, $0, false) }
      }
      drafts += Self.times(Self.frontPagePerSecond, in: range, &random).map {
        (Int.random(in: self.tenants, using: &random), $0, true)
      }
    }
    return drafts.sorted { $0.time < $1.time }.enumerated().map { number, draft in
      Arrival(
        number: number,
        tenant: draft.tenant,
        time: .seconds(draft.time),
        article: Article(
          number: draft.isOfFrontPage ? number % Self.frontPageCount : number,
          isOfFrontPage: draft.isOfFrontPage
        )
      )
    }
  }

  /// How many requests a second of a tenant no cache can answer.
  private static func perSecond(of tenant: Int, in phase: Phase) -> Double {
    guard phase == .greedy, tenant == self.greedyTenant else { return self.usualPerSecond }
    return 2 * Upstream.capacityPerSecond - Double(self.tenants.count - 1) * self.usualPerSecond
  }

  /// The times of a Poisson process.
  private static func times(_ rate: Double, in range: Range<Double>, _ random: inout Random) -> [Double] {
    var times: [Double] = []
    var time = range.lowerBound
    while true {
      time += -log(1 - Double.random(in: 0..<1, using: &random)) / rate
      guard time < range.upperBound else { return times }
      times.append(time)
    }
  }
}

/// SplitMix64: the same numbers in each run of the program.
struct Random: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { self.state = seed }

  mutating func next() -> UInt64 {
    self.state &+= 0x9e37_79b9_7f4a_7c15
    var bits = self.state
    bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
    return bits ^ (bits >> 31)
  }
}
