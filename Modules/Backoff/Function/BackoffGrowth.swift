internal import OperationCore

/// How delays grow from attempt to attempt, before the cap and the jitter are applied.
enum BackoffGrowth: Sendable {
  case constant(Delay)
  case linear(Delay)
  case exponential(Delay)
  case fibonacci(Delay)
  case decorrelated(Delay, RandomSource)
  case custom(@Sendable (Int) -> OperationDuration)

  /// The delay before an attempt; the first retry is attempt 1. Only a random growth uses `limit`.
  func delay(before attempt: Int, limit: Delay) -> Delay {
    switch self {
    case .constant(let delay): delay
    case .custom(let function): Delay(function(attempt))
    case _ where attempt < 1: .zero
    case .linear(let step): step.times(Int128(attempt))
    case .exponential(let base): base.doubled(times: attempt - 1)
    case .fibonacci(let base): Self.fibonacci(base, attempt)
    case .decorrelated(let base, let source): Self.decorrelated(base, source, attempt, limit)
    }
  }

  private static func fibonacci(_ base: Delay, _ attempt: Int) -> Delay {
    guard base > .zero else { return .zero }
    var (current, next) = (base, base)
    var left = attempt - 1
    // The longest delay is reached after fewer than 200 steps.
    while left > 0, current < .longest {
      (current, next) = (next, current.plus(next))
      left -= 1
    }
    return current
  }

  private static func decorrelated(_ base: Delay, _ source: RandomSource, _ attempt: Int, _ limit: Delay) -> Delay {
    guard base < limit else { return source.draw(from: .zero...limit) }
    var delay = base
    for _ in 0..<min(attempt, Self.links(from: base, to: limit)) {
      delay = source.draw(from: base...min(delay.times(3), limit))
    }
    return delay
  }

  /// The length of a chain after which its start no longer matters, so that a longer one would make no difference.
  ///
  /// In the geometric mean, each link is longer than the previous one by a factor of 3/e ≈ 2^0.14, until the limit is
  /// reached.
  private static func links(from base: Delay, to limit: Delay) -> Int {
    guard base > .zero else { return 0 }
    let ratio = limit.attoseconds / base.attoseconds
    return 64 + 10 * (Int128.bitWidth - ratio.leadingZeroBitCount)
  }
}
