import OperationCore
import OperationLimits
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// How long a throttle holds back the load of a service that is back, in virtual time: the table of the article.
@Suite(.bounded, .warningsAreIssues) struct ThrottleRecoveryTests {
  struct Outage: Sendable, CustomStringConvertible {
    /// The runs that are wanted in a second.
    let rate: Int
    /// The time in seconds for which the service accepts nothing.
    let seconds: Int
    var multiplier = 2.0
    var window = 120
    /// The share of runs that a healthy service accepts.
    var healthy = 1.0
    var warmUp = 20

    var description: String { "\(self.rate)/s, \(self.seconds) s, K \(self.multiplier)" }
  }

  /// The seconds after an outage in which half and nine tenths of the runs are let through, and the runs that have reached
  /// the service in the last second of the outage.
  private func recovery(from outage: Outage, seed: UInt64 = 1) async -> (half: Int, most: Int, probes: Int) {
    let time = SimulatedTime()
    var context = OperationContext()
    context.operationDeadlines = time
    let generator = Mutex(SeededGenerator(seed: seed))
    let random: @Sendable () -> Double = { generator.withLock { Double.random(in: 0..<1, using: &$0) } }
    let throttle = AdaptiveThrottle(
      multiplier: outage.multiplier,
      window: .seconds(outage.window),
      random: random
    )
    let end = outage.warmUp + outage.seconds
    var (half, most, probes) = (Int?.none, Int?.none, 0)
    var second = 0
    while most == nil, second < end + 3_600 {
      var reached = 0
      for number in 0..<outage.rate {
        time.set(Double(second) + Double(number) / Double(outage.rate))
        var permit = throttle.takePermit(in: context)
        if permit == nil { permit = try? await throttle.waitForPermit(in: context, maximumWait: nil) }
        guard let permit else { continue }
        reached += 1
        let isDown = (outage.warmUp..<end).contains(second)
        let isAccepted = !isDown && (outage.healthy == 1 || random() < outage.healthy)
        throttle.returnPermit(permit, after: isAccepted ? .succeeded : .failed(Refused()), in: context)
      }
      if second == end - 1 { probes = reached }
      if second >= end {
        if half == nil, 2 * reached >= outage.rate { half = second - end + 1 }
        if 10 * reached >= 9 * outage.rate { most = second - end + 1 }
      }
      second += 1
    }
    return (half ?? .max, most ?? .max, probes)
  }

  /// Every sixth row of the table in the article, or all: the seconds to nine tenths, with the multipliers 1.1, 2 and 3.
  @Test(
    arguments: ModelRuns.part(
      of: [
        (10, 1, [1, 1, 1]), (10, 60, [14, 11, 1]), (10, 180, [29, 26, 24]), (10, 3_600, [29, 26, 23]),
        (100, 1, [1, 1, 1]), (100, 60, [14, 11, 8]), (100, 180, [29, 29, 29]), (1_000, 1, [1, 1, 1]),
        (1_000, 180, [29, 29, 29]), (1_000, 60, [14, 11, 9]),
      ] as [(Int, Int, [Int])],
      every: 6
    )
  )
  func `A service that is back gets its load within a quarter of a window`(
    rate: Int,
    seconds: Int,
    expected: [Int]
  ) async {
    var measured: [Int] = []
    for multiplier in [1.1, 2, 3] {
      let outage = Outage(rate: rate, seconds: seconds, multiplier: multiplier)
      let (half, most, probes) = await self.recovery(from: outage)
      measured.append(most)
      #expect(half <= most)
      // After a short outage, accepts of the time before are in the window.
      if seconds >= 180 { #expect((1...rate / 25 + 1).contains(probes), "\(outage): \(probes) probes") }
    }
    expect(measured, equals: expected)
  }

  @Test(arguments: ModelRuns.part(of: [2, 1.1, 3], every: 3))
  func `A load of ten thousand runs a second is back within one window`(multiplier: Double) async {
    let outage = Outage(rate: 10_000, seconds: 10, multiplier: multiplier, window: 10, warmUp: 2)
    let (_, most, probes) = await self.recovery(from: outage)
    #expect(most <= 10 && (1...200).contains(probes), "\(most) s, \(probes) probes")
  }

  @Test(arguments: [10, 30])
  func `A shorter window recovers as much faster, also where the service fails now and then`(window: Int) async {
    let outage = Outage(rate: 200, seconds: 180, window: window, healthy: 0.95)
    for seed in 1...(ModelRuns.isThorough ? 3 : 1) {
      let most = await self.recovery(from: outage, seed: UInt64(seed)).most
      #expect(most <= window, "\(most) s")
    }
  }
}
