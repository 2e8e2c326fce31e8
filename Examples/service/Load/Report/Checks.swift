/// What the numbers have to be.
struct Checks {
  private(set) var lines: [String] = []
  private(set) var wrongCount = 0

  private static let step = 0.5

  /// - Parameters:
  ///   - bare: The calls of the service without modifiers.
  ///   - hand: The calls of the service written by hand.
  ///   - full: The calls of the service with modifiers.
  ///   - spared: The calls of a second service with modifiers, which has no greedy tenant. It runs at the same time, and so
  ///     tells how much slower the machine itself has become since the quiet phase.
  init(bare: Recording, hand: Recording, full: Recording, spared: Recording) {
    self.checkOverload(bare: bare, hand: hand, full: full)
    self.checkFairness(full, spared)
    self.checkRetries(full)
    self.checkRecovery(full)
    let wrong = (bare.calls + hand.calls + full.calls).count { $0.outcome == .wrong }
    self.check("no visitor gets another article", wrong == 0, "\(wrong)")
  }

  private mutating func check(_ claim: String, _ holds: Bool, _ found: String) {
    self.lines.append("\(holds ? "ok   " : "wrong") \(claim): \(found)")
    if !holds { self.wrongCount += 1 }
  }

  private mutating func checkOverload(bare: Recording, hand: Recording, full: Recording) {
    let capacity = Upstream.capacityPerSecond
    let shares = [full, bare, hand].map { $0[end: .greedy].uncached.goodput / capacity }
    self.check(
      "at twice the capacity, the goodput is at least 90 % of the capacity",
      shares[0] >= 0.9,
      percent(shares[0])
    )
    self.check("it collapses without modifiers, below 50 %", shares[1] < 0.5, percent(shares[1]))
    self.check("and with what is written by hand", shares[2] < 0.5, percent(shares[2]))
  }

  private mutating func checkFairness(_ full: Recording, _ spared: Recording) {
    let greedy = full[.greedy].uncached.ofOthers
    // The first seconds of the program, in which all code runs for the first time, are not counted.
    let latencies = [full[end: .quiet].uncached.ofOthers, greedy].map { $0.latency(quantile: 0.99) }
    let spare = [spared[end: .quiet], spared[.greedy]].map { $0.uncached.ofOthers.latency(quantile: 0.99) }
    let (ratio, drift) = (Self.ratio(latencies), Self.ratio(spare))
    self.check(
      "the p99 of the other tenants is at most 1.5 times that of the quiet phase",
      // Where the service without the greedy tenant has become slower too, the machine has, and that factor is left out.
      ratio.map { $0 <= 1.5 * max(drift ?? 1, 1) } ?? false,
      """
      \(milliseconds(latencies[1])) ms after \(milliseconds(latencies[0])) ms, \(factor(ratio)); at the same time without \
      the greedy one, \(milliseconds(spare[1])) ms after \(milliseconds(spare[0])) ms, \(factor(drift))
      """
    )
    let share = greedy.inTime ?? 0
    self.check("at least 99 % of their requests are answered in time", share >= 0.99, percent(share))
  }

  /// The second duration as a multiple of the first; nil if one is missing.
  private static func ratio(_ durations: [Duration?]) -> Double? {
    durations[0].flatMap { before in durations[1].map { $0 / before } }
  }

  private mutating func checkRetries(_ full: Recording) {
    for (name, part) in [("in all", full), ("while shards fail", full[.failing])] {
      let ratio = part.requestsPerAdmitted ?? .infinity
      self.check(
        "the upstream gets at most 1.2 requests for each that is admitted, \(name)",
        ratio <= 1.2,
        "\((ratio * 100).rounded() / 100)"
      )
    }
  }

  /// The recovery ends with the first half second after which all of them are good.
  private mutating func checkRecovery(_ full: Recording) {
    let range = Phase.recovered.range
    let starts = Array(stride(from: Double(range.lowerBound), to: Double(range.upperBound), by: Self.step))
    let bad = starts.last { start in (full[start..<(start + Self.step)].uncached.inTime ?? 0) < 0.9 }
    let seconds = bad.map { $0 + Self.step - Double(range.lowerBound) } ?? 0
    self.check(
      "at most 3 s after the upstream is well, at least 90 % are answered in time, and remain so",
      seconds <= 3,
      "\(seconds) s"
    )
  }
}
