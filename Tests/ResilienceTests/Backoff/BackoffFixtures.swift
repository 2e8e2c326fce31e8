import OperationBackoff
import OperationCore
import TestFixtures

let longest = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999)

let oddAttempts = [Int.min, Int.min + 1, -1, 0, 1, 2, 63, 64, 65, 127, 128, 129, 1_000, Int.max - 1, Int.max]

let oddDurations: [Duration] = [
  Duration(attoseconds: .min), longest * -1, .seconds(-1), .zero, Duration(attoseconds: 1), .nanoseconds(1),
  .seconds(1), .seconds(Int64.max), longest, Duration(attoseconds: .max),
]

/// All functions without randomness.
func growths(_ duration: Duration) -> [OperationBackoffFunction] {
  [.noBackoff, .constant(duration), .linear(duration), .exponential(duration), .fibonacci(duration)]
}

/// A function with each kind of jitter.
func jitters(_ function: OperationBackoffFunction, seed: UInt64 = 1) -> [OperationBackoffFunction] {
  let kinds: [OperationJitter] = [.full, .equal, .proportional(0), .proportional(0.2), .proportional(1)]
  return kinds.map { function.jittered($0, using: SeededGenerator(seed: seed)) }
}

extension Array where Element == Duration {
  var mean: Double { self.reduce(0) { $0 + $1 / .seconds(1) } / Double(self.count) }
}

extension OperationBackoffFunction {
  /// Calls the function many times for the same attempt.
  func sample(_ attempt: Int, count: Int = 10_000) -> [Duration] {
    (0..<count).map { _ in self(attempt) }
  }
}
