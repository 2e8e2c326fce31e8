import OperationCore
import OperationLimits
import OperationTesting
import TestFixtures
import Testing

/// Random schedules of runs at a rate that changes, compared with a token bucket.
@Suite(.bounded, .warningsAreIssues) struct RateModelTests {
  @Test(arguments: ModelRuns.seeds)
  func `A rate that changes makes no permit and loses none`(seed: UInt64) async {
    await ModelRuns.check(300, seed: seed) { Self.failure(of: &$0) }
  }

  private static func failure(of generator: inout SeededGenerator) -> String? {
    func rate() -> (count: Int, period: Duration, burst: Int) {
      (
        Int.random(in: 1...7, using: &generator), .seconds(Int.random(in: 1...60, using: &generator)),
        Int.random(in: 1...5, using: &generator)
      )
    }
    let first = rate()
    var machine = RateMachine(count: first.count, period: first.period, burst: first.burst)
    var bucket = TokenBucket(count: first.count, period: first.period, burst: first.burst)
    var now = Duration.zero
    for step in 0..<Int.random(in: 1...60, using: &generator) {
      switch Int.random(in: 0..<8, using: &generator) {
      case 0..<5:
        guard machine.take(at: now) == bucket.take(at: now) else { return "step \(step): a permit more or less" }
      case 5..<7: now += .milliseconds(Int.random(in: 0...5000, using: &generator))
      default:
        let next = rate()
        machine.setRate(count: next.count, period: next.period, burst: next.burst, at: now)
        bucket.setRate(count: next.count, period: next.period, burst: next.burst, at: now)
      }
    }
    return nil
  }

  /// What has happened to a limit, to be repeated without some of the permits.
  private enum Step {
    case take(UInt64, Duration)
    case setRate(count: Int, period: Duration, burst: Int, Duration)
  }

  @Test(arguments: ModelRuns.seeds)
  func `What comes back unused is at most what the bucket would have without it`(
    seed: UInt64
  ) async {
    await ModelRuns.check(150, seed: seed) { Self.returnFailure(of: &$0) }
  }

  private static func returnFailure(of generator: inout SeededGenerator) -> String? {
    func rate() -> (count: Int, period: Duration, burst: Int) {
      (
        Int.random(in: 1...7, using: &generator), .seconds(Int.random(in: 1...20, using: &generator)),
        Int.random(in: 1...8, using: &generator)
      )
    }
    let first = rate()
    var machine = RateMachine(count: first.count, period: first.period, burst: first.burst)
    var steps: [Step] = []
    var held: [UInt64] = []
    var returned: Set<UInt64> = []
    var now = Duration.zero
    /// The permits that are missing if those of a set had not been taken.
    func missing(without numbers: Set<UInt64>) -> Int {
      var other = RateMachine(count: first.count, period: first.period, burst: first.burst)
      for step in steps {
        switch step {
        case .take(let number, let time): if !numbers.contains(number) { _ = other.take(at: time) }
        case .setRate(let count, let period, let burst, let time):
          other.setRate(count: count, period: period, burst: burst, at: time)
        }
      }
      return other.missing(at: now)
    }
    for step in 0..<Int.random(in: 1...60, using: &generator) {
      switch Int.random(in: 0..<12, using: &generator) {
      case 0..<6:
        let before = machine.missing(at: now)
        guard machine.take(at: now) else { continue }
        if Int.random(in: 0..<4, using: &generator) == 0 {
          machine.giveBack(machine.taken, at: now)
          guard machine.missing(at: now) == before else { return "step \(step): the last permit did not come back" }
          returned.insert(machine.taken)
        } else {
          held.append(machine.taken)
        }
        steps.append(.take(machine.taken, now))
      case 6..<8: now += .milliseconds(Int.random(in: 0...5000, using: &generator))
      case 8..<11:
        guard let index = held.indices.randomElement(using: &generator) else { continue }
        let number = held.remove(at: index)
        returned.insert(number)
        machine.giveBack(number, at: now)
      default:
        let next = rate()
        machine.setRate(count: next.count, period: next.period, burst: next.burst, at: now)
        steps.append(.setRate(count: next.count, period: next.period, burst: next.burst, now))
      }
      guard machine.missing(at: now) >= missing(without: returned) else { return "step \(step): a permit too many" }
    }
    return nil
  }

  @Test(arguments: ModelRuns.seeds)
  func `Runs that wait begin by what they matter, or are rejected at their longest wait`(seed: UInt64) async {
    await ModelRuns.check(200, seed: seed) { Self.waitingFailure(of: &$0) }
  }

  /// One permit a second: the bucket is empty at first, and each second admits the run whose turn it is.
  private static func waitingFailure(of generator: inout SeededGenerator) -> String? {
    let deadlines = SystemDeadlineSource()
    let queue = Int.random(in: 0...5, using: &generator)
    var machine = RateMachine(count: 1, period: .seconds(1), burst: 1, maximumWaiting: queue)
    var waiting: [LimitWaiter] = []
    var (permits, now) = (1, 0)
    for step in 0..<Int.random(in: 1...40, using: &generator) {
      if Bool.random(using: &generator) {
        let due = generator.wait(upTo: 4).map { .seconds(now) + $0 }
        let level = generator.criticality()
        let waiter = LimitWaiter(deadlines: deadlines, due: due, criticality: level)
        let decision = machine.join(waiter, at: .seconds(now))
        if waiting.isEmpty, permits == 1 {
          permits = 0
          guard decision == .admitted else { return "step \(step): a free permit was refused" }
          continue
        }
        let earlier = waiting.count { $0.criticality >= level }
        let turn = Duration.seconds(now + 1 + earlier)
        if let due, due < turn {
          guard decision == .rejected(retryAfter: turn - .seconds(now)) else { return "step \(step): a vain wait" }
          continue
        }
        if waiting.count >= queue {
          let lowest = waiting.map(\.criticality).min() ?? .criticalPlus
          guard queue > 0, lowest < level, let index = waiting.lastIndex(where: { $0.criticality == lowest }) else {
            guard decision == .rejected(retryAfter: turn - .seconds(now)) else { return "step \(step): a full queue" }
            continue
          }
          waiting.remove(at: index)
        }
        guard decision == nil else { return "step \(step): no wait" }
        waiting.append(waiter)
      } else {
        now += 1
        machine.wake(at: .seconds(now))
        if let highest = waiting.map(\.criticality).max(),
          let index = waiting.firstIndex(where: { $0.criticality == highest })
        {
          let next = waiting.remove(at: index)
          guard next.decision == .admitted else { return "step \(step): another turn" }
        } else {
          permits = 1
        }
        for waiter in waiting where waiter.due.map({ $0 <= .seconds(now) }) ?? false {
          guard waiter.decision == .rejected(retryAfter: nil) else { return "step \(step): a wait that is too long" }
        }
        waiting.removeAll { $0.decision != nil }
      }
      guard machine.waiterCount == waiting.count, waiting.allSatisfy({ $0.decision == nil }) else {
        return "step \(step): other waiters"
      }
    }
    return nil
  }
}
