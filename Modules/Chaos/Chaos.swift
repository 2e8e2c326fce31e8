internal import OperationCore
public import OperationFoundation
internal import Synchronization

/// Faults to inject into runs: failures and additional latency, drawn at random from a seed.
///
/// ```swift
/// let chaos = Chaos(failureRatio: 0.1, latencyRatio: 0.2, latency: .milliseconds(100)...(.seconds(2)), seed: 7)
/// ```
///
/// The faults depend only on the seed and on how many runs have begun before: the third run of one value has the same
/// fault as the third run of another value with the same seed and numbers. Operations that share a value share its
/// count of runs.
public final class Chaos: Sendable {
  /// The share of runs that fail.
  public let failureRatio: Double

  /// The share of runs that are delayed.
  public let latencyRatio: Double

  /// The range of the delays, which are drawn uniformly.
  public let delays: ClosedRange<Duration>

  /// The seed. If it is random, print it, to be able to repeat the faults.
  public let seed: UInt64

  private let runs = Atomic<UInt64>(0)

  /// Creates faults.
  ///
  /// A run may be both delayed and failed: it fails after its delay.
  ///
  /// - Parameters:
  ///   - failureRatio: The share of runs that fail, between 0 and 1. Another number is reported, and counts as the nearer
  ///     of the two; NaN counts as 0.
  ///   - latencyRatio: The share of runs that are delayed, between 0 and 1, like `failureRatio`.
  ///   - latency: The delays of delayed runs. A negative one is reported and counts as zero.
  ///   - seed: The source of all random numbers; a random number by default.
  public init(
    failureRatio: Double = 0,
    latencyRatio: Double = 0,
    latency: ClosedRange<Duration> = .milliseconds(100)...(.seconds(1)),
    seed: UInt64 = .random(in: 0 ... .max)
  ) {
    self.failureRatio = failureRatio.validShare("failureRatio")
    self.latencyRatio = latencyRatio.validShare("latencyRatio")
    let shortest = latency.lowerBound.reportedIfNegative(in: "Chaos.delays")
    self.delays = shortest...max(shortest, latency.upperBound)
    self.seed = seed
  }

  /// The number of runs that have begun.
  public var runCount: Int { Int(clamping: self.runs.load(ordering: .relaxed)) }

  /// The fault of the next run.
  func next() -> Fault {
    let (before, number) = self.runs.wrappingAdd(1, ordering: .relaxed)
    return self.fault(ofRun: before, number: number)
  }

  private func fault(ofRun index: UInt64, number: UInt64) -> Fault {
    // A generator for each run: the fault of a run does not depend on the order in which threads draw.
    var generator = SplitMix(seed: self.seed, stream: index)
    let failure = generator.share()
    let latency = generator.share()
    let delay = generator.duration(in: self.delays)
    return Fault(
      delay: latency < self.latencyRatio ? delay : nil,
      failure: failure < self.failureRatio ? ChaosFailure(run: Int(clamping: number)) : nil
    )
  }
}

/// The fault of one run; neither property is set for a run without a fault.
struct Fault: Hashable, Sendable {
  var delay: Duration?
  var failure: ChaosFailure?
}

/// The error of a run that fails because of ``Chaos``.
public struct ChaosFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The number of the run among its ``Chaos``'s runs; the first is 1.
  public let run: Int

  /// Creates an error.
  ///
  /// - Parameter run: The number of the run; the first is 1.
  public init(run: Int) {
    self.run = run
  }

  /// The message of the error.
  public var description: String { "Chaos made run \(self.run) fail." }
}

extension Double {
  /// The number as a share of runs. A number below 0 or above 1 is reported, and so is NaN.
  fileprivate func validShare(_ name: String) -> Double {
    if self >= 0, self <= 1 { return self }
    let share: Double = self > 1 ? 1 : 0
    OperationWarning(
      code: .invalidArgument,
      message: "Chaos was given `\(name): \(self)`, which counts as \(share). Pass a share between 0 and 1."
    ).report()
    return share
  }
}

extension ChaosFailure: LocalizedError {
  public var errorDescription: String? { self.description }
}
